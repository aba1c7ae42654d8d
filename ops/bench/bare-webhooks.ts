import { Agent, request } from 'node:http';
import postgres from 'postgres';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import { nowMs } from './monotonic.ts';
import { answerLines } from './tool.ts';

/** A body for one receiver, and what it is signed with. */
export interface BareWebhook {
  id: string;
  url: string;
  body: string;
  secret: string;
}

/** What is asked: to post all of these, so many at a time; or from now on each that Postgres notifies of. */
export type BareQuestion = { ask: 'post'; webhooks: BareWebhook[]; clients: number } | { ask: 'listen'; url: string; channel: string };

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

async function answer(question: BareQuestion): Promise<object> {
  if (question.ask === 'listen') {
    await postgres(question.url, { max: 1 }).listen(question.channel, (text) => void post(JSON.parse(text) as BareWebhook));
    return {};
  }
  const began = nowMs();
  const { webhooks } = question;
  let at = 0;
  const client = async (): Promise<void> => {
    while (at < webhooks.length) await post(webhooks[at++] as BareWebhook);
  };
  await Promise.all(Array.from({ length: question.clients }, client));
  return { perSecond: (webhooks.length * 1_000) / (nowMs() - began) };
}

/** Signs one body as the service does, sends it on a connection that stays open, and stores nothing. */
function post({ id, url, body, secret }: BareWebhook): Promise<void> {
  const headers = signedHeaders({ id, body, secrets: [secret], unixSeconds: Math.floor(Date.now() / 1_000) });
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }, (response) => {
      response.resume().once('end', resolve);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

answerLines(answer);
