import type { operations } from '#api/contract/operator-types.ts';
import type { OperatorRegistry } from './call.ts';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { showBackups } from '#api/operator/backups.ts';
import { runAuditNow } from '#api/operator/audit.ts';
import { showAuditLog } from '#api/operator/audit-log.ts';
import { clearHaltedWallet } from '#api/operator/clear-wallet.ts';
import { moveClock, showClock } from '#api/operator/clock.ts';
import { consolidateOutputs } from '#api/operator/consolidate.ts';
import { showCurrencies, switchCurrency } from '#api/operator/currencies.ts';
import type { OperatorDeps } from '#api/operator/deps.ts';
import { allowFurtherTransfer } from '#api/operator/further-transfer.ts';
import { freeze, showFreezes, unfreeze } from '#api/operator/freeze.ts';
import {
  addApiKey,
  addScreeningCredits,
  changeGateway,
  createGateway,
  enrolTotp,
  removeApiKey,
  rotateSecret,
  showGateway,
  showGateways,
} from '#api/operator/gateways.ts';
import { discardJob, retryJob, retryJobs } from '#api/operator/jobs.ts';
import { resealNow, showSecrets } from '#api/operator/key-status.ts';
import { showDeposits, showJobs, showPayments, showSettlements, showWebhooks } from '#api/operator/lists.ts';
import { showExpenses, showInvoice, showInvoices } from '#api/operator/invoices.ts';
import { addAsset, pauseNetwork, resumeNetwork, showAssets, showNetworks } from '#api/operator/networks.ts';
import { showProcesses } from '#api/operator/processes.ts';
import { confirmProposal, showProposal, showProposals, withdrawProposal } from '#api/operator/proposals.ts';
import { adoptOutgoing, showUnknownOutgoing } from '#api/operator/outgoing.ts';
import { putPrice, showPrices } from '#api/operator/prices.ts';
import { putScreening, showScreening } from '#api/operator/screening.ts';
import { rejectSettlement } from '#api/operator/reject-settlement.ts';
import { resetInquiries } from '#api/operator/reset-inquiries.ts';
import { rescanNetwork, showRescans } from '#api/operator/rescan.ts';
import { resendOneWebhook } from '#api/operator/resend-webhook.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { search } from '#api/operator/search.ts';
import { showPayment, showSettlement } from '#api/operator/timelines.ts';
import { showWallets } from '#api/operator/wallets.ts';
import { proposeHeaderField } from '#api/operator/accept-header-field.ts';
import { proposeDeath } from '#api/operator/declare-dead.ts';
import { proposeSignerJournal, showSignerJournal } from '#api/operator/signer-journal.ts';
import { cancelWithheld, proposeWithheld, showWithheld } from '#api/operator/withheld.ts';

/**
 * Every operation of the operator contract. `tools` is what only the composition root can give: the local chains of a
 * development deployment (null elsewhere) and the workers of this process.
 */
export function operatorOperations(tools: Pick<OperatorDeps, 'devChains' | 'runDue'>): OperatorRegistry<operations> {
  return {
    createGateway,
    listGateways: showGateways,
    getGateway: showGateway,
    changeGateway,
    createApiKey: addApiKey,
    revokeApiKey: removeApiKey,
    rotateSecret,
    enrolTotp,
    addScreeningCredits,
    getSignerJournal: showSignerJournal,
    resealSignerJournal: proposeSignerJournal,
    getWithheld: showWithheld,
    payWithheld: proposeWithheld,
    cancelWithheld,
    listNetworks: showNetworks,
    listWallets: showWallets,
    listProcesses: showProcesses,
    listBackups: showBackups,
    rescanNetwork,
    listRescans: showRescans,
    pauseNetwork,
    resumeNetwork,
    listAssets: showAssets,
    addAsset,
    listCurrencies: showCurrencies,
    setCurrency: switchCurrency,
    listPayments: showPayments,
    getPayment: showPayment,
    resolveAml,
    allowTransfer: allowFurtherTransfer,
    listSettlements: showSettlements,
    getSettlement: showSettlement,
    rejectSettlement,
    resetInquiries,
    listDeposits: showDeposits,
    allocateDeposit,
    listInvoices: showInvoices,
    getInvoice: showInvoice,
    listExpenses: showExpenses,
    search,
    listWebhooks: showWebhooks,
    resendWebhook: resendOneWebhook,
    listJobs: showJobs,
    retryJob,
    retryJobs,
    discardJob,
    runAudit: runAuditNow,
    listActions: showAuditLog,
    getKeyStatus: showSecrets,
    resealSecrets: resealNow,
    listProposals: showProposals,
    getProposal: showProposal,
    confirmProposal,
    withdrawProposal,
    listFreezes: showFreezes,
    listUnknownOutgoing: showUnknownOutgoing,
    adoptOutgoing,
    clearWallet: clearHaltedWallet,
    consolidateOutputs,
    declareDead: proposeDeath,
    acceptHeaderField: proposeHeaderField,
    freeze,
    unfreeze,
    listPrices: showPrices,
    setPrice: putPrice,
    getScreening: showScreening,
    setScreening: putScreening,
    getClock: showClock,
    advanceClock: (deps, call) => moveClock({ ...deps, ...tools }, call),
  };
}
