import type { Deps, Reply } from '#api/deps.ts';
import { successBody } from '#shared/core/reply-body.ts';
import { cashoutLikeness } from '#api/settlements/likeness.ts';
import { settlementView } from '#api/settlements/view.ts';
import { listLeaving, listParkedPayable, listPayable, listUnexplained } from '#api/store/adopted.ts';
import { findGateway } from '#api/store/gateways.ts';
import { insertReply } from '#api/store/idempotency.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { type AdoptAs, adoptTransaction } from './adopt.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { formatAmount, fromUnits, parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readMoney, readText } from './input.ts';

const MAX_REASON = 500;

/** GET /outgoing: what addresses of ours sent that nothing in the books explains, and the cashouts it may have paid. */
export async function showUnknownOutgoing(deps: Deps): Promise<Reply> {
  const { sql } = deps.db;
  const items: object[] = [];
  for (const [network, chain] of deps.chains) {
    for (const { networkId: _, ...one } of await listUnexplained(sql, chain.id)) {
      const leaving = await listLeaving(sql, chain.id, one.txid);
      const transfers = leaving.map(({ assetId, symbol, decimals, recipient, rawAmount }) => ({
        assetId,
        symbol,
        recipient: chain.codec.display(recipient),
        amount: formatAmount(fromUnits(rawAmount, decimals)),
      }));
      const may = leaving.map(async (transfer) => [...(await listPayable(sql, transfer)), ...(await listParkedPayable(sql, transfer))]);
      const mayHavePaid = (await Promise.all(may)).flat();
      items.push({ network, ...one, sender: chain.codec.display(one.sender), transfers, mayHavePaid });
    }
  }
  return { status: 200, data: { items } };
}

/**
 * POST /outgoing/adopt: the books accept a transaction that they had lost as ours (decision 0024), with an audit row. Its wallets work
 * again when nothing else of theirs is unknown; what was frozen stays frozen until it is lifted.
 * @throws not_found; conflict; validation_error naming network, txid, reason, settlementId, refundId, withheldId, gatewayId, amount, idempotencyKey, close or lost
 */
export async function adoptOutgoing(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const chain = deps.chains.get(readText(fields, 'network'));
  if (chain === undefined) throw invalid('network', 'is no network of this deployment');
  const parsed = chain.codec.parseTxid(readText(fields, 'txid'));
  if (!parsed.ok) throw invalid('txid', parsed.problem);
  const txid = parsed.canonical;
  const reason = readText(fields, 'reason', MAX_REASON);
  const as = await readAs(deps, fields);
  const key = readKey(fields, as);
  const adoption = await deps.db.transaction(async (tx) => {
    const done = await adoptTransaction(tx, deps, chain, { txid, as, reason });
    if (key !== undefined && done.settlementId !== null) await keepReply(tx, deps, done.settlementId, key);
    await insertOperatorAction(tx, deps.operator, {
      action: 'outgoing.adopt',
      target: txid,
      reason,
      details: {
        network: chain.config.name,
        as: { ...as, ...('amount' in as && { amount: as.amount === null ? null : formatAmount(as.amount) }) },
        ...(key !== undefined && { idempotencyKey: key }),
        ...done,
      },
    });
    return done;
  });
  crashPoint('adopt.committed');
  deps.wake();
  const left = await listUnexplained(deps.db.sql, chain.id);
  return { status: 200, data: { network: chain.config.name, txid, ...adoption, unknownLeft: left.length } };
}

async function readAs(deps: Deps, fields: Record<string, unknown>): Promise<AdoptAs> {
  const named = (['settlementId', 'refundId', 'withheldId', 'gatewayId'] as const).filter((field) => fields[field] !== undefined && fields[field] !== null);
  const [first, second] = named;
  if (second !== undefined) throw invalid(second, `cannot be named beside ${first}`);
  const lost = fields.lost ?? false;
  if (typeof lost !== 'boolean' || (lost && first !== undefined)) throw invalid('lost', 'must be true or false, and true only where nobody is named');
  const close = fields.close ?? false;
  if (typeof close !== 'boolean' || (close && (lost || first !== undefined))) throw invalid('close', 'must be true or false, and true only by itself');
  const text = readMoney(fields, 'amount');
  if (text !== undefined && first !== 'gatewayId') throw invalid('amount', 'is for a cashout of a gateway that is named');
  if (first === undefined) return close ? { close } : { lost };
  const id = readText(fields, first).toLowerCase();
  if (!isUuid(id)) throw invalid(first, 'must be an id');
  if (first === 'settlementId') return { settlementId: id };
  if (first === 'refundId') return { refundId: id };
  if (first === 'withheldId') return { withheldId: id };
  if ((await findGateway(deps.db.sql, id)) === undefined) throw invalid('gatewayId', 'is no gateway of this deployment');
  return { gatewayId: id, amount: text === undefined ? null : parseTrusted(text) };
}

/** The Idempotency-Key that a lost cashout was asked for with, where its merchant has said. @throws validation_error */
function readKey(fields: Record<string, unknown>, as: AdoptAs): string | undefined {
  if (fields.idempotencyKey === undefined || fields.idempotencyKey === null) return undefined;
  if (!('gatewayId' in as)) throw invalid('idempotencyKey', 'is for a cashout of a gateway that is named');
  const key = fields.idempotencyKey;
  if (typeof key !== 'string' || key.length > POLICY.idempotencyKeyLength || !/^[\x20-\x7e]+$/.test(key))
    throw invalid('idempotencyKey', `must be 1 to ${POLICY.idempotencyKeyLength} printable characters`);
  return key;
}

/** Answers its merchant's repeat with the cashout as it is now, instead of paying it again. @throws conflict when the key was used for another request */
async function keepReply(tx: Tx, deps: Deps, settlementId: string, key: string): Promise<void> {
  const settlement = await findSettlement(tx, settlementId);
  if (settlement === undefined) throw new Invariant(`settlement ${settlementId} is gone`);
  const { gatewayId, assetId, amountText: amount, address } = settlement;
  const reply = {
    fingerprint: cashoutLikeness({ assetId, amount, address }),
    status: 200,
    body: successBody(settlementView(deps, settlement)),
    resourceId: settlementId,
  };
  if (!(await insertReply(tx, { gatewayId, operation: 'createSettlement', key }, reply)))
    throw new ServiceError('conflict', { message: 'The Idempotency-Key is that of another cashout of this gateway, which is in the books.' });
}
