/** An error reply as it came. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** One answer of a batch. */
export type Answer = { result: unknown } | { error: RpcError };

/** What can be believed of a batch's answers: those with a result or an error, and an id no other one has. */
export function answersById(answered: unknown): Map<number, Answer> {
  const byId = new Map<number, Answer>();
  const seen = new Set<number>();
  for (const entry of Array.isArray(answered) ? answered : [answered]) {
    const { id, result, error } = (entry ?? {}) as { id?: unknown; result?: unknown; error?: Partial<RpcError> | null };
    if (typeof id !== 'number') continue;
    if (seen.has(id)) byId.delete(id);
    else if (error !== undefined && error !== null) {
      if (typeof error.code === 'number') byId.set(id, { error: { code: error.code, message: String(error.message), data: error.data } });
    } else if (result !== undefined) byId.set(id, { result });
    seen.add(id);
  }
  return byId;
}

/** Errors about the endpoint rather than the question: out of resources, over the limit; 429 is how some write that. */
const BUSY_CODES = new Set([-32_005, -32_002, 429]);
/** How providers word it under codes that mean anything. */
const BUSY_WORDS =
  /rate.?limit|too many requests|requests? per (second|minute|day)|throughput|compute units|capacity exceeded|daily (request )?(count|limit|quota)/i;
/** How providers say that one request, or one answer, is too much. */
const TOO_MUCH_WORDS =
  /(batch|payload|request|response|body|content|result|query|range|log).{0,40}(too (large|big|many|long)|limit|exceed|size|maximum|max )|too many (results|logs|batch|requests in)|more than \d+ (results|logs|blocks)|(exceed|maximum).{0,40}(batch|response|payload|body)/i;

/** What geth and those after it answer when code reverted; others say so in words. Whatever follows is written by whoever wrote the code. */
const REVERTED = 3;

/** True of an error that tells how a contract ended: its words are that contract's, and say nothing of the endpoint. */
function isOfContract({ code, message }: RpcError): boolean {
  return code === REVERTED || /revert/i.test(message);
}

/** True of an error by which the endpoint asks to be asked less. */
export function isBusy(error: RpcError): boolean {
  const { code, message } = error;
  if (isOfContract(error)) return false;
  if (BUSY_WORDS.test(message)) return true;
  // The same codes are used for answers that are too large.
  return BUSY_CODES.has(code) && !isTooMuch(error.message);
}

/** True of an error that a smaller request may not meet. */
export function isTooMuch(message: string): boolean {
  return !/revert/i.test(message) && !BUSY_WORDS.test(message) && TOO_MUCH_WORDS.test(message);
}

/** True of an answer that refuses a batch as a whole because of its size, or because it is a batch. */
export function refusesBatch(answered: unknown): boolean {
  // The client hands a single reply to every request of the batch.
  const replies = Array.isArray(answered) ? answered : [answered];
  const { error } = (replies[0] ?? {}) as { error?: { message?: unknown } | null };
  if (error === undefined || error === null || replies.some((reply) => reply !== replies[0])) return false;
  const message = String(error.message);
  return isTooMuch(message) || (/batch/i.test(message) && !BUSY_WORDS.test(message));
}

/** True of an answer to one request that refuses the list it came in. */
export function refusesList(answered: unknown): boolean {
  const [only] = Array.isArray(answered) ? answered : [answered];
  return refusesBatch(answered) && typeof (only as { id?: unknown }).id !== 'number';
}
