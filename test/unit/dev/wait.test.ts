import { expect, it } from 'vitest';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';

it('whoever waited in vain is told what the last attempt failed by, down to its cause', async () => {
  const port = await freePort();
  await expect(waitFor(() => fetch(`http://127.0.0.1:${port}`), { what: 'an answer', timeoutMs: 0 })).rejects.toThrow(
    `waited 0 ms for an answer: fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
});

it('whoever waited in vain for what did not fail is told what was waited for', async () => {
  await expect(waitFor(() => false, { what: 'rain', timeoutMs: 0 })).rejects.toThrow(/^waited 0 ms for rain$/);
});
