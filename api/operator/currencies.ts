import type { Deps, Reply } from '#api/deps.ts';
import { listCurrencies, setCurrencyActive } from '#api/store/assets.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readReason } from './input.ts';

/** GET /currencies: every currency of payments there is, and whether new payments may use it. */
export async function showCurrencies(deps: Deps): Promise<Reply> {
  return { status: 200, data: { items: await listCurrencies(deps.db.sql) } };
}

/** PUT /currencies/{code}: switches one on or off for new payments (contract 2.1). @throws not_found, validation_error */
export async function switchCurrency(deps: Deps, call: OperatorCall): Promise<Reply> {
  const code = (call.params.code ?? '').toUpperCase();
  const fields = fieldsOf(call.body);
  const { active } = fields;
  if (typeof active !== 'boolean') throw invalid('active', 'must be true or false');
  const reason = readReason(fields);
  const currency = await deps.db.transaction(async (tx) => {
    const changed = await setCurrencyActive(tx, code, active);
    if (changed === undefined) throw new ServiceError('not_found');
    await insertOperatorAction(tx, deps.operator, { action: 'currency.set', target: code, reason, details: { active } });
    return changed;
  });
  return { status: 200, data: currency };
}
