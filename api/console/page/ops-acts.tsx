import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { JobsScreen, OpsPaymentScreen } from './operator-model.ts';
import { Folded, may, type Of, Reason, Text } from './ops-fields.tsx';
import { Code, Coins, Fact, Facts, networkTitle } from './parts.tsx';
import { useTexts } from './texts.ts';

// What operators do, each form unfolded by whoever means it. It says what comes of it, and asks why.

/** What is decided about a payment whose coins are held. */
export function HeldActs({ place, id }: Of & { id: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'aml:decide')) return null;
  return (
    <section class="card card-act" aria-label={t('ops-act.held')}>
      <h2>{t('ops-act.held')}</h2>
      <Folded title={t('ops-act.release')} means={t('ops-act.release-means')}>
        <ActForm place={place} act="payment-release" fields={{ id }} proved label={t('ops-act.release')}>
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.refund')} means={t('ops-act.refund-means')}>
        <ActForm place={place} act="payment-refund" fields={{ id }} proved label={t('ops-act.propose-refund')}>
          <Text name="address" title={t('ops-act.refund-address')} hint={t('ops-act.refund-address-hint')} />
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.withhold')} means={t('ops-act.withhold-means')}>
        <ActForm place={place} act="payment-withhold" fields={{ id }} proved label={t('ops-act.withhold')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Coins that did not follow a payment into its pool, and one more transfer of them, after those that are made without asking. */
export function MisplacedCoins({ place, id, misplaced }: Of & { id: string; misplaced: OpsPaymentScreen['misplaced'] }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="misplaced">
      <h2 id="misplaced">{t('ops.misplaced')}</h2>
      <p class="hint">{t('ops.misplaced-why')}</p>
      {misplaced.map((coins) => {
        const { assetId, assetSymbol, network, amount, from, to, failedPayoutId, family, failure, allowed } = coins;
        const walletOf = (pool: 'green' | 'held') =>
          t('ops.wallet-of', { role: t(pool === 'held' ? 'wallet.held' : 'wallet.hot'), network: networkTitle(place, network) });
        return (
          <>
            <Facts>
              <Fact name={t('ops.amount')}>
                <Coins amount={amount} asset={assetSymbol} />
                <span class="hint below">{networkTitle(place, network)}</span>
              </Fact>
              <Fact name={t('ops.misplaced-from')}>{walletOf(from)}</Fact>
              <Fact name={t('ops.misplaced-to')}>{walletOf(to)}</Fact>
              <Fact name={t('ops.misplaced-failed', { number: family })}>
                <Code text={failedPayoutId} what={t('ops.the-id')} />
                {failure !== null && <span class="hint below">{failure}</span>}
              </Fact>
            </Facts>
            {allowed ? (
              <p class="hint">{t('ops.misplaced-allowed')}</p>
            ) : (
              may(place, 'aml:decide') && (
                <Folded title={t('ops-act.transfer')} means={t('ops-act.transfer-means')}>
                  <ActForm place={place} act="payment-transfer" fields={{ id, assetId, failedPayoutId }} proved label={t('ops-act.transfer')}>
                    <Reason />
                  </ActForm>
                </Folded>
              )
            )}
          </>
        );
      })}
    </section>
  );
}

/** Ends a cashout that holds a claim. */
export function RejectAct({ place, id, status }: Of & { id: string; status: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'settlement:reject') || !['PENDING_APPROVAL', 'REQUESTED', 'PROCESSING'].includes(status)) return null;
  return (
    <section class="card" aria-label={t('ops-act.reject')}>
      <Folded title={t('ops-act.reject')} means={t('ops-act.reject-means')}>
        <ActForm place={place} act="settlement-reject" fields={{ id }} proved label={t('ops-act.propose-reject')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Says yes or no to what somebody else proposed. */
export function ProposalActs({ place, id, proposedBy, you }: Of & { id: string; proposedBy: string; you: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'aml:decide')) return null;
  return (
    <div class="acts">
      {proposedBy === you ? (
        <p class="hint">{t('ops-act.own-proposal')}</p>
      ) : !proposedBy.includes('@') ? (
        <p class="hint">{t('ops-act.token-proposal')}</p>
      ) : (
        <ActForm place={place} act="proposal-confirm" fields={{ id }} proved look="main" label={t('ops-act.confirm')} />
      )}
      <ActForm place={place} act="proposal-withdraw" fields={{ id }} label={t('ops-act.withdraw')} />
    </div>
  );
}

/** What may be done with work that failed. */
export function JobActs({ place, job }: Of & { job: { id: string; state: string; running: boolean; lastError: string | null } }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'job:operate') || job.running || job.lastError === null) return null;
  return (
    <details class="fold">
      <summary>{t('ops-act.job')}</summary>
      <ActForm place={place} act="job-retry" fields={{ id: job.id }} look="small" label={t('ops-act.retry')} />
      <ActForm place={place} act="job-discard" fields={{ id: job.id }} proved look="small" label={t('ops-act.discard')}>
        <p class="hint">{t('ops-act.discard-means')}</p>
        <Text name="confirm" title={t('ops-act.type-discard')} />
        <Reason />
      </ActForm>
    </details>
  );
}

/** How much of each kind of work failed, and the way to have all of one kind run again. */
export function FailedJobs({ place, failed, most }: Of & { failed: JobsScreen['failed']; most: number }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="failed">
      <h2 id="failed">{t('ops.failed-jobs')}</h2>
      <ul class="plain">
        {failed.map(({ topic, failed: count }) => (
          <li>
            <code>{topic}</code> · {count > most ? t('ops.failed-more', { count: most }) : t('ops.failed-count', { count })}
            {may(place, 'job:operate') && (
              <Folded title={t('ops-act.retry-all')} means={t('ops-act.retry-all-means', { most })}>
                <ActForm place={place} act="jobs-retry" fields={{ topic }} proved look="small" label={t('ops-act.retry-all')}>
                  <Text name="confirm" title={t('ops-act.type-kind')} />
                  <Reason />
                </ActForm>
              </Folded>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Stops and starts what a network does, and reads its blocks again. */
export function NetworkActs({ place, name, paused }: Of & { name: string; paused: boolean }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'network:operate')) return null;
  const fields = { network: name };
  return (
    <section class="card card-act" aria-label={t('ops-act.network')}>
      <h2>{t('ops-act.network')}</h2>
      {paused ? (
        <Folded title={t('ops-act.resume')} means={t('ops-act.resume-means')}>
          <ActForm place={place} act="network-resume" fields={fields} proved label={t('ops-act.resume')}>
            <Reason />
          </ActForm>
        </Folded>
      ) : (
        <Folded title={t('ops-act.pause')} means={t('ops-act.pause-means')}>
          <ActForm place={place} act="network-pause" fields={fields} proved label={t('ops-act.pause')}>
            <Reason />
          </ActForm>
        </Folded>
      )}
      <Folded title={t('ops-act.rescan')} means={t('ops-act.rescan-means')}>
        <ActForm place={place} act="network-rescan" fields={fields} label={t('ops-act.rescan')}>
          <Text name="from" title={t('ops-act.from-block')} />
          <Text name="to" title={t('ops-act.to-block')} />
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Stops cashouts, everywhere or on one network. */
export function FreezeActs({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.freeze')} means={t('ops-act.freeze-means')}>
      <ActForm place={place} act="dispatch-freeze" label={t('ops-act.freeze')}>
        <label class="field">
          <span>{t('ops-act.freeze-what')}</span>
          <select name="network">
            <option value="">{t('ops.everything')}</option>
            {Object.entries(place.networks).map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lifts one freeze. */
export function UnfreezeAct({ place, scope }: Of & { scope: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.unfreeze')} means={t('ops-act.unfreeze-means')}>
      <ActForm place={place} act="dispatch-unfreeze" fields={{ scope }} proved label={t('ops-act.unfreeze')}>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lets a wallet pay again that sent what nobody knows. */
export function ClearAct({ place, network, wallet }: Of & { network: string; wallet: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.clear')} means={t('ops-act.clear-means')}>
      <ActForm place={place} act="wallet-clear" fields={{ network, wallet }} proved label={t('ops-act.clear')}>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Credits a payment with what came to one of its addresses, and nobody was credited for. */
export function AllocateAct({ place, id, paymentId }: Of & { id: string; paymentId: string | null }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'deposit:allocate')) return null;
  return (
    <Folded title={t('ops-act.allocate')} means={t('ops-act.allocate-means')}>
      <ActForm place={place} act="deposit-allocate" fields={{ id, ...(paymentId !== null && { paymentId }) }} proved look="small" label={t('ops-act.allocate')}>
        {paymentId === null && <Text name="paymentId" title={t('ops-act.to-payment')} />}
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lets a gateway name hashes again for a payment. */
export function InquiriesAct({ place, id }: Of & { id: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'deposit:allocate')) return null;
  return (
    <section class="card" aria-label={t('ops-act.inquiries')}>
      <Folded title={t('ops-act.inquiries')} means={t('ops-act.inquiries-means')}>
        <ActForm place={place} act="inquiries-reset" fields={{ id }} label={t('ops-act.inquiries')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

const ADOPTED_AS = ['settlementId', 'refundId', 'withheldId', 'own', 'close', 'lost'] as const;

/** Says what a transaction of ours was that the books do not know. */
export function AdoptAct({ place, network, txid, mayHavePaid }: Of & { network: string; txid: string; mayHavePaid: readonly string[] }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.adopt')} means={t('ops-act.adopt-means')}>
      <ActForm place={place} act="outgoing-adopt" fields={{ network, txid }} proved label={t('ops-act.adopt')}>
        <label class="field">
          <span>{t('ops-act.adopt-as')}</span>
          <select name="as">
            {ADOPTED_AS.map((as) => (
              <option value={as} selected={as === (mayHavePaid.length === 0 ? 'own' : 'settlementId')}>
                {t(`ops-act.adopt-${as}`)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t('ops-act.adopt-paid')}</span>
          <input name="paid" maxLength={64} autocomplete="off" spellcheck={false} list={`paid-${txid}`} />
          <datalist id={`paid-${txid}`}>
            {mayHavePaid.map((id) => (
              <option value={id} />
            ))}
          </datalist>
          <span class="hint">{t('ops-act.adopt-paid-hint')}</span>
        </label>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Sets a price where prices are static. */
export function PriceAct({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'network:operate')) return null;
  return (
    <section class="card" aria-label={t('ops-act.price')}>
      <Folded title={t('ops-act.price')} means={t('ops-act.price-means')}>
        <ActForm place={place} act="price-set" label={t('ops-act.price')}>
          <Text name="symbol" title={t('ops.symbol')} hint={t('ops-act.price-symbol-hint')} />
          <Text name="usd" title={t('ops.usd')} hint={t('ops-act.price-usd-hint')} required={false} />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Invites a colleague to the deployment. */
export function InviteOperator({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  return (
    <details class="card">
      <summary>{t('ops-act.invite')}</summary>
      <ActForm place={place} act="operator-invite" proved look="main" label={t('ops-act.make-link')}>
        <Text name="email" title={t('ops-act.email')} />
        <label class="field">
          <span>{t('ops-act.role')}</span>
          <select name="role">
            <option value="auditor">{t('role.auditor')}</option>
            <option value="operator">{t('role.operator')}</option>
          </select>
          <span class="hint">{t('ops-act.role-hint')}</span>
        </label>
      </ActForm>
    </details>
  );
}

/** Takes from somebody what they may do at the deployment. */
export function RemoveOperator({ place, email }: Of & { email: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  return (
    <Folded title={t('ops-act.remove')} means={t('ops-act.remove-means')}>
      <ActForm place={place} act="operator-remove" fields={{ email }} proved look="small" label={t('ops-act.remove')} />
    </Folded>
  );
}
