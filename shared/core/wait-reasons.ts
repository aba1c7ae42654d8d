/**
 * Why a cashout waits: each reason by its name, as it is stored and told through the API. Texts are read back by these patterns too, so that pages can say them in
 * the reader's language; what older releases stored, and no name fits, stays as it is.
 */
export const WAIT_REASONS = {
  frozen: 'dispatch is frozen: {detail}',
  restored: 'the database was restored or taken over, and the chains are still compared with it',
  network_paused: 'the network is paused',
  chain_unreachable: 'the chain cannot be reached: {detail}',
  chain_unclear: 'the chain gives no clear answer about it: {detail}',
  refused_by_network: 'the network refuses the transfer: {detail}',
  wallet_halted: 'the wallet is halted: {detail}',
  outputs_taken: 'other payouts take the outputs it was to spend',
  out_of_turns: 'its gateway has as many payouts on their way as it may: it goes once one of them is in a block',
  no_price: 'there is no fresh price for {asset}',
  fees_risen: 'fees have risen above what was locked for it: it is sent once they fall',
  fee_ceiling: 'a fee of {value} USD is above the ceiling of {limit} USD',
  fee_times_locked: 'a fee of {value} USD is more than {times} times what was locked for it',
  top_up_ceiling: 'a top-up of {value} USD is above the ceiling of {limit} USD',
  own_daily_limit: "the gateway's own limit of {limit} USD a day is used up",
  fair_share: 'what one gateway may have of the {window} limit of {limit} USD{scope} is used up',
  limit_used: 'the {window} limit of {limit} USD{scope} is used up',
  above_limit: '{value} USD is above the limit of {limit} USD per transaction{scope}',
  uncapped: 'the signer pays no {asset} out before its configuration names and caps it',
  above_floor_cap: 'more than {limit} USD {window} would leave, at the floor price of {asset}',
  above_cap: 'more than {limit} {asset} {window} would leave',
  needs_gas: 'waiting for gas to reach the wallet',
  no_gas: 'the wallet needs gas and {reason}',
  funding_halted: 'the funding wallet is halted: {detail}',
  funding_short: 'the funding wallet is short of coins',
  top_up_refused: 'the network refuses the top-up: {detail}',
  sweeping: 'waiting for {amount} {asset} to be swept to the wallet',
  awaits_verdict: '{amount} {asset} lie where a verdict is awaited, or at a halted address',
  in_cold_storage: '{amount} {asset} lie in cold storage: refill the hot wallet {address}',
  short_and_refused: 'the wallet and all deposit addresses are short of {amount} {asset}; {refused} lie where the issuer does not let them be moved',
  short: 'the wallet and all deposit addresses are short of {amount} {asset}',
  not_final: 'waiting for {amount} {asset} of the pool that are not final yet, or wait for a verdict',
  outputs_short: 'the outputs of the pool are short of {amount} {asset}',
  joining_one: 'small outputs of its pool are joined first: 1 transaction on the way',
  joining: 'small outputs of its pool are joined first: {count} transactions on the way',
  join_stuck: 'its pool has {count} small outputs that have to be joined first, and {reason}',
  not_signed: 'not signed: {reason}',
  journal: "the signer's journal: {detail}",
  failed: 'transaction {txHash} failed: {detail}; an operator must decide',
  given_up: 'it could not be sent: {reason}; an operator must decide',
  displaced: 'a transaction that the books had lost has used its nonce or its anchor; an operator must decide',
  balance_short: 'its balance is still short',
  gateway_not_verified: 'its gateway is not verified',
  gateway_may_not: 'its gateway may not cash out',
  credit_used_up: 'its screening credit is used up',
  no_verdict: 'the screening provider gives no verdict',
  not_as_asked: 'it is not what was asked for',
  fee_above_accepted: 'its network fee is {fee} by now, and {accepted} was accepted at most; its merchant can retry it, which accepts the fee of that moment',
} as const;

type WaitReasonName = keyof typeof WAIT_REASONS;
type ValuesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | ValuesIn<Rest> : never;
type ValuesOf<Name extends WaitReasonName> = ValuesIn<(typeof WAIT_REASONS)[Name]>;

/** Why something waits, as it is stored. Pure. */
export function waitReason<Name extends WaitReasonName>(
  name: Name,
  ...[values]: [ValuesOf<Name>] extends [never] ? [] : [Readonly<Record<ValuesOf<Name>, string | number | bigint>>]
): string {
  const given: Readonly<Record<string, string | number | bigint>> = values ?? {};
  return WAIT_REASONS[name].replaceAll(/\{(\w+)\}/g, (_whole, key: string) => String(given[key]));
}

/** What every stored text of a reason is like, for the database. Pure. */
export function likeReason(name: WaitReasonName): string {
  return WAIT_REASONS[name].replaceAll(/[\\%_]/g, '\\$&').replaceAll(/\{\w+\}/g, '%');
}

/** What may have spaces; amounts, assets and hashes have none. */
const PHRASES = ['detail', 'reason', 'scope', 'window'];
/** No reason that is stored is longer: what nodes and people say within one is cut before. */
const LONGEST = 4_000;
/** The one that begins with more words of its own first: what a node or a person says within a reason may read like the end of another one. */
const PATTERNS = Object.entries(WAIT_REASONS)
  .map(([name, text]) => {
    const pattern = text
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 === 1 ? `(?<${part}>${PHRASES.includes(part) ? '.' : '\\S'}*?)` : part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')));
    return { name: name as WaitReasonName, begins: `${text}{`.indexOf('{'), matches: new RegExp(`^${pattern.join('')}$`, 's') };
  })
  .toSorted((one, other) => other.begins - one.begins);

/** The name of a stored reason and what it tells of; undefined for one that no name fits, or that is longer than any. Pure. */
export function readWaitReason(text: string): { name: WaitReasonName; values: Record<string, string> } | undefined {
  if (text.length > LONGEST) return undefined;
  for (const { name, matches } of PATTERNS) {
    const found = matches.exec(text);
    if (found !== null) return { name, values: { ...found.groups } };
  }
  return undefined;
}
