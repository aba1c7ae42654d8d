import type { Bare } from './bare-server.ts';
import type { Load, Loaded } from './load.ts';
import type { Stage, Tool } from './stage.ts';

/** Requests a second of what does less than the service. */
export interface BareBounds {
  /** A bare node:http with the service's driver, the statements of one request, and an answer of the same bytes. */
  statements(seconds: number): Promise<number>;
  /** Express and openapi-backend with nothing behind them. */
  layers(seconds: number): Promise<number>;
  stop(): Promise<void>;
}

/** Starts both, and warms them up as the service is. */
export async function openBareBounds(stage: Stage, bare: Omit<Bare, 'what'>, asked: Load, load: Tool): Promise<BareBounds> {
  const tools: Tool[] = [];
  const start = async (what: Bare['what']): Promise<(seconds: number) => Promise<number>> => {
    const tool = await stage.startTool('bare-server.ts', []);
    tools.push(tool);
    const { port } = await tool.ask<{ port: number }>({ what, ...bare } satisfies Bare);
    const run = async (seconds: number): Promise<number> => {
      const { perSecond, refused } = await load.ask<Loaded>({ ...asked, port, seconds });
      if (refused > 0) throw new Error(`the bare server refused ${refused} requests`);
      return perSecond;
    };
    await run(asked.seconds);
    return run;
  };
  return { statements: await start('statements'), layers: await start('layers'), stop: async () => void (await Promise.all(tools.map((tool) => tool.stop()))) };
}
