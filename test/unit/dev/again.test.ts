import { expect, it } from 'vitest';
import { again, persistent } from '#ops/dev/again.ts';
import type { Answer, Operator } from '#ops/dev/client.ts';

const answer = (status: number): Answer => ({
  status,
  success: status < 300,
  data: { status },
  error: { code: 'busy', message: 'not now' },
  headers: new Headers(),
  text: '',
});

it('what fails is done again and said, until it works', async () => {
  const said: string[] = [];
  let tries = 0;
  const work = async (): Promise<string> => {
    tries += 1;
    if (tries < 3) throw new Error(`no ${tries}`);
    return 'done';
  };
  expect(await again('seeding', work, { say: (line) => said.push(line), signal: new AbortController().signal }, [1, 1, 1])).toBe('done');
  expect(said).toEqual(['seeding failed and is tried again: no 1', 'seeding failed and is tried again: no 2']);
});

it('what fails to the end throws what the last try threw, and nothing is tried after a stop', async () => {
  const patience = { say: () => undefined, signal: new AbortController().signal };
  let tries = 0;
  const fails = async (): Promise<never> => {
    tries += 1;
    throw new Error(`no ${tries}`);
  };
  await expect(again('seeding', fails, patience, [1])).rejects.toThrow('no 2');
  await expect(again('seeding', fails, { ...patience, signal: AbortSignal.abort(new Error('stopped')) }, [1])).rejects.toThrow('stopped');
  expect(tries).toBe(2);
});

it('what never answers holds up nobody who stops, and is not said to have failed', async () => {
  const stopping = new AbortController();
  const said: string[] = [];
  const waiting = again('seeding', () => new Promise<never>(() => undefined), { say: (line) => said.push(line), signal: stopping.signal }, [1]);
  stopping.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(said).toEqual([]);
});

it('a call that the api cannot take now is made again, one that it refuses is not', async () => {
  const statuses = [503, 200, 404];
  const asked: string[] = [];
  const api = {
    call: async (method: string, path: string) => {
      asked.push(`${method} ${path}`);
      return answer(statuses.shift() as number);
    },
  } as unknown as Operator;
  const patient = persistent(api, { say: () => undefined, signal: new AbortController().signal });
  expect(await patient.must('POST', '/gateways')).toEqual({ status: 200 });
  await expect(patient.must('GET', '/gateways/1')).rejects.toThrow('GET /gateways/1: 404 busy: not now');
  expect(asked).toEqual(['POST /gateways', 'POST /gateways', 'GET /gateways/1']);
});
