import type { Exchange } from './control-api.ts';

/** Asks a node's control; `tell` is for the verbs whose answer says nothing. */
export interface ControlClient<Api extends { [Verb in keyof Api]: Exchange }> {
  ask<Verb extends keyof Api & string>(verb: Verb, takes: Api[Verb]['takes']): Promise<Api[Verb]['gives']>;
  tell<Verb extends keyof Api & string>(verb: Verb, takes: Api[Verb]['takes']): Promise<void>;
}

/** A client of the control of the node at `url`; user and password in it are left out. Its calls throw Error with the node's words when it refuses. */
export function controlClient<Api extends { [Verb in keyof Api]: Exchange }>(url: string): ControlClient<Api> {
  const { origin } = new URL(url);
  const ask: ControlClient<Api>['ask'] = async (verb, takes) => {
    const response = await fetch(`${origin}/dev/${verb}`, { method: 'POST', body: JSON.stringify(takes) });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${verb}: ${(answer as { error?: string }).error}`);
    return answer;
  };
  return {
    ask,
    tell: async (verb, takes) => {
      await ask(verb, takes);
    },
  };
}
