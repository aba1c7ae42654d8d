/** An error reply, unchanged. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export type Answer = { result: unknown } | { error: RpcError };

/** The usable answers of a batch: those with a result or an error, and with an id that no other answer has. */
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

/** Codes of errors about the endpoint and not the question: out of resources, over the limit; some use 429 for that. */
const BUSY_CODES = new Set([-32_005, -32_002, 429]);
/** How providers say the same under codes that may mean anything. */
const BUSY_WORDS =
  /rate.?limit|too many requests|requests? per (second|minute|day)|throughput|compute units|capacity exceeded|daily (request )?(count|limit|quota)/i;
/** How providers say that one request, or one answer, is too much. */
const TOO_MUCH_WORDS =
  /(batch|payload|request|response|body|content|result|query|range|log).{0,40}(too (large|big|many|long)|limit|exceed|size|maximum|max )|too many (results|logs|batch|requests in)|more than \d+ (results|logs|blocks)|(exceed|maximum).{0,40}(batch|response|payload|body)/i;

/** The code that geth and its descendants answer when a contract reverted; others say so in words. The author of the contract wrote whatever follows. */
const REVERTED = 3;

/** Whether an error reports how a contract ended. Its words are then the contract's, and say nothing about the endpoint. */
function isOfContract({ code, message }: RpcError): boolean {
  return code === REVERTED || /revert/i.test(message);
}

/** Whether the endpoint asks for fewer requests by this error. */
export function isBusy(error: RpcError): boolean {
  const { code, message } = error;
  if (isOfContract(error)) return false;
  if (BUSY_WORDS.test(message)) return true;
  // The same codes are also used for answers that are too large.
  return BUSY_CODES.has(code) && !isTooMuch(error.message);
}

/** Whether a smaller request may avoid this error. */
export function isTooMuch(message: string): boolean {
  return !/revert/i.test(message) && !BUSY_WORDS.test(message) && TOO_MUCH_WORDS.test(message);
}

/** Whether an answer refuses a whole batch, because of its size or because it is a batch. */
export function refusesBatch(answered: unknown): boolean {
  // A single reply counts as the reply to every request of the batch.
  const replies = Array.isArray(answered) ? answered : [answered];
  const { error } = (replies[0] ?? {}) as { error?: { message?: unknown } | null };
  if (error === undefined || error === null || replies.some((reply) => reply !== replies[0])) return false;
  const message = String(error.message);
  return isTooMuch(message) || (/batch/i.test(message) && !BUSY_WORDS.test(message));
}

/** Whether an answer to one request refuses the list it was sent in. */
export function refusesList(answered: unknown): boolean {
  const [only] = Array.isArray(answered) ? answered : [answered];
  return refusesBatch(answered) && typeof (only as { id?: unknown }).id !== 'number';
}
