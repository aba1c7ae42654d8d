import { accountCommands } from './accounts.ts';
import { amlCommands } from './aml.ts';
import { assetCommands } from './asset.ts';
import { auditCommands } from './audit.ts';
import { auditLogCommands } from './audit-log.ts';
import { backupCommands } from './backup.ts';
import { chainCommands } from './chain.ts';
import type { Command } from './command.ts';
import { databaseCommands } from './database.ts';
import { depositCommands } from './deposit.ts';
import { dispatchCommands } from './dispatch.ts';
import { doctorCommands } from './doctor.ts';
import { gatewayCommands } from './gateway.ts';
import { invoiceCommands } from './invoice.ts';
import { jobCommands } from './job.ts';
import { keyCommands } from './key.ts';
import { listenCommands } from './listen.ts';
import { pauseCommands } from './pause.ts';
import { payCommands } from './pay.ts';
import { paymentCommands } from './payment.ts';
import { personCommands } from './person.ts';
import { proposalCommands } from './proposal.ts';
import { redisCommands } from './redis.ts';
import { searchCommands } from './search.ts';
import { secretCommands } from './secret.ts';
import { settlementCommands } from './settlement.ts';
import { signerJournalCommands } from './signer-journal.ts';
import { triggerCommands } from './trigger.ts';
import { walletCommands } from './wallet.ts';
import { webhookCommands } from './webhook.ts';
import { withheldCommands } from './withheld.ts';

/** Every command, in the order of the help; a new noun is one file and one line here. */
export const COMMANDS: readonly Command[] = [
  ...gatewayCommands,
  ...keyCommands,
  ...personCommands,
  ...assetCommands,
  ...paymentCommands,
  ...settlementCommands,
  ...amlCommands,
  ...withheldCommands,
  ...proposalCommands,
  ...dispatchCommands,
  ...walletCommands,
  ...signerJournalCommands,
  ...searchCommands,
  ...depositCommands,
  ...invoiceCommands,
  ...webhookCommands,
  ...payCommands,
  ...triggerCommands,
  ...listenCommands,
  ...chainCommands,
  ...pauseCommands,
  ...jobCommands,
  ...databaseCommands,
  ...redisCommands,
  ...backupCommands,
  ...auditCommands,
  ...auditLogCommands,
  ...doctorCommands,
  ...secretCommands,
  ...accountCommands,
];
