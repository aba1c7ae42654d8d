import type { JSX } from 'preact';
import type { Screen, Surroundings } from './model.ts';
import type { OperatorScreen } from './operator-model.ts';
import { cashoutName, OpsCashout, OpsCashouts, Outgoing } from './ops-cashouts.tsx';
import { Expenses, Invoices, Money, Prices } from './ops-money.tsx';
import { Overview, SearchHits } from './ops-overview.tsx';
import { OpsDeposits, OpsPayment, OpsPayments } from './ops-payments.tsx';
import { Acts, Audit, Gateway, Gateways, People } from './ops-records.tsx';
import { Jobs, Network, Networks, Screening } from './ops-work.tsx';
import { networkTitle } from './parts.tsx';
import { paymentTitle } from './payment.tsx';
import type { Translate } from './texts.ts';

/** Whether a page belongs to the deployment. Pure. */
export function isOperatorScreen(screen: Screen): screen is OperatorScreen {
  return screen.kind.startsWith('ops-');
}

/** What a page of the deployment is called. Pure. */
export function operatorTitle(screen: OperatorScreen, t: Translate, networks: Surroundings['networks']): string {
  switch (screen.kind) {
    case 'ops-search':
      return t('ops.search');
    case 'ops-payment':
      return paymentTitle(t, screen.payment);
    case 'ops-cashout':
      return cashoutName(screen);
    case 'ops-outgoing':
      return t('ops.outgoing');
    case 'ops-network':
      return networkTitle({ networks }, screen.item.name);
    case 'ops-invoices':
      return t('ops.invoices');
    case 'ops-expenses':
      return t('ops.expenses');
    case 'ops-gateway':
      return screen.gateway.name;
    case 'ops-acts':
      return t('ops-section.audit');
    case 'ops-overview':
    case 'ops-payments':
    case 'ops-deposits':
    case 'ops-cashouts':
    case 'ops-screening':
    case 'ops-networks':
    case 'ops-jobs':
    case 'ops-money':
    case 'ops-gateways':
    case 'ops-prices':
    case 'ops-audit':
    case 'ops-people':
      return t(`ops-section.${screen.kind.slice('ops-'.length)}` as 'ops-section.overview');
  }
}

export function OperatorContent({ screen, place }: { screen: OperatorScreen; place: Surroundings }): JSX.Element {
  switch (screen.kind) {
    case 'ops-overview':
      return <Overview screen={screen} place={place} />;
    case 'ops-search':
      return <SearchHits screen={screen} place={place} />;
    case 'ops-payments':
      return <OpsPayments screen={screen} place={place} />;
    case 'ops-payment':
      return <OpsPayment screen={screen} place={place} />;
    case 'ops-deposits':
      return <OpsDeposits screen={screen} place={place} />;
    case 'ops-cashouts':
      return <OpsCashouts screen={screen} place={place} />;
    case 'ops-cashout':
      return <OpsCashout screen={screen} place={place} />;
    case 'ops-outgoing':
      return <Outgoing screen={screen} place={place} />;
    case 'ops-screening':
      return <Screening screen={screen} place={place} />;
    case 'ops-networks':
      return <Networks screen={screen} place={place} />;
    case 'ops-network':
      return <Network screen={screen} place={place} />;
    case 'ops-jobs':
      return <Jobs screen={screen} place={place} />;
    case 'ops-money':
      return <Money screen={screen} place={place} />;
    case 'ops-invoices':
      return <Invoices screen={screen} place={place} />;
    case 'ops-expenses':
      return <Expenses screen={screen} place={place} />;
    case 'ops-gateways':
      return <Gateways screen={screen} place={place} />;
    case 'ops-gateway':
      return <Gateway screen={screen} place={place} />;
    case 'ops-prices':
      return <Prices screen={screen} place={place} />;
    case 'ops-audit':
      return <Audit screen={screen} place={place} />;
    case 'ops-acts':
      return <Acts screen={screen} place={place} />;
    case 'ops-people':
      return <People screen={screen} place={place} />;
  }
}
