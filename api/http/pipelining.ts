import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers owed on a connection, in the order of their requests: a client may send several before it reads the first. */
const owed = new WeakMap<Duplex, Set<ServerResponse>>();

/**
 * Notes an answer as owed until it closes, and sees to it that it closes: when a connection is gone, Node tells the answer whose
 * turn it is, and none of those behind it.
 */
export function noteOwed(socket: Duplex, response: ServerResponse): void {
  const answers = owed.get(socket) ?? newlyOwed(socket);
  answers.add(response);
  response.once('close', () => answers.delete(response));
}

function newlyOwed(socket: Duplex): Set<ServerResponse> {
  const answers = new Set<ServerResponse>();
  owed.set(socket, answers);
  socket.once('close', () => {
    for (const one of [...answers]) if (one.socket === null) one.emit('close');
  });
  return answers;
}

/**
 * Calls `then` once all that is owed on a connection was answered, so that nothing is written between the parts of an answer; at
 * once where nothing is owed, and never when the connection ends before. For connections that Node watches no longer.
 */
export function afterAnswers(socket: Duplex, then: () => void): void {
  const last = [...(owed.get(socket) ?? [])].at(-1);
  if (last === undefined) {
    then();
    return;
  }
  const gone = (): void => void socket.destroy();
  socket.on('error', gone);
  last.once('close', () => {
    socket.off('error', gone);
    if (socket.writable) then();
    else socket.destroy();
  });
}
