import { type ApiConfig, ConfigError } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { amlbot } from './amlbot.ts';
import { developmentScores } from './development.ts';
import type { ScreeningProvider } from './provider.ts';
import { openSanctionsList, type SanctionsList } from './sanctions-list.ts';

/** What verdicts come from: the list is asked first and costs nothing, the provider only about what is not on it. */
export interface ScreeningSources {
  sanctions: SanctionsList | null;
  provider: ScreeningProvider;
}

interface Parts {
  db: Database;
  log: Logger;
  /** Reads an address of any chain of this deployment; undefined when it is none. */
  canonical(address: string): string | undefined;
}

interface ProviderKind {
  name: string;
  /** Settings it cannot do without. */
  needs: readonly ('SLUICE_SCREENING_LIST' | 'SLUICE_SCREENING_ACCESS_ID' | 'SLUICE_SCREENING_ACCESS_KEY')[];
  open(config: ApiConfig, parts: Parts): ScreeningProvider;
}

const noVerdict = async () => ({ outcome: 'unavailable', problem: 'no screening provider is configured' }) as const;

/** Every provider there is; adding one is one file and one line here. */
export const SCREENING_PROVIDERS: readonly ProviderKind[] = [
  {
    name: 'none',
    needs: [],
    open: () => ({ name: 'none', capabilities: { score: false, async: false, idempotent: true, networks: null }, ask: noVerdict, poll: noVerdict }),
  },
  {
    name: 'list',
    needs: ['SLUICE_SCREENING_LIST'],
    // Whatever is listed never comes this far.
    open: () => ({
      name: 'list',
      capabilities: { score: false, async: false, idempotent: true, networks: null },
      ask: async () => ({ outcome: 'verdict', score: 0, sanctioned: false, categories: [], ref: null }),
      poll: noVerdict,
    }),
  },
  {
    name: 'amlbot',
    needs: ['SLUICE_SCREENING_ACCESS_ID', 'SLUICE_SCREENING_ACCESS_KEY'],
    open: (config) =>
      amlbot({
        baseUrl: config.SLUICE_SCREENING_URL?.replace(/\/+$/, '') ?? null,
        accessId: config.SLUICE_SCREENING_ACCESS_ID ?? '',
        accessKey: config.SLUICE_SCREENING_ACCESS_KEY ?? '',
      }),
  },
  { name: 'development', needs: [], open: (_, { db, canonical }) => developmentScores(db, (address) => canonical(address) ?? address) },
];

/** Which provider a deployment asks: the one it names, else the development source, and in production the list when there is one. */
export function screeningProviderName(config: Pick<ApiConfig, 'NODE_ENV' | 'SLUICE_SCREENING_PROVIDER' | 'SLUICE_SCREENING_LIST'>): string {
  if (config.SLUICE_SCREENING_PROVIDER !== undefined) return config.SLUICE_SCREENING_PROVIDER;
  if (config.NODE_ENV !== 'production') return 'development';
  return config.SLUICE_SCREENING_LIST === undefined ? 'none' : 'list';
}

/** What is wrong with a deployment's choice of screening; nothing when it can be opened. */
export function screeningProblems(config: ApiConfig): string[] {
  const name = screeningProviderName(config);
  const kind = SCREENING_PROVIDERS.find((one) => one.name === name);
  if (kind === undefined) return [`SLUICE_SCREENING_PROVIDER: no provider named ${name}; there are ${SCREENING_PROVIDERS.map((one) => one.name).join(', ')}`];
  return kind.needs.filter((setting) => config[setting] === undefined).map((setting) => `${setting}: required by the screening provider ${name}`);
}

/**
 * Opens what a deployment has chosen.
 * @throws ConfigError when the provider does not exist or lacks a setting, or the list cannot be used
 */
export function openScreeningSources(config: ApiConfig, parts: Parts): ScreeningSources {
  const problems = screeningProblems(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const kind = SCREENING_PROVIDERS.find((one) => one.name === screeningProviderName(config)) as ProviderKind;
  return { sanctions: openList(config.SLUICE_SCREENING_LIST, parts), provider: kind.open(config, parts) };
}

function openList(path: string | undefined, { canonical, log }: Parts): SanctionsList | null {
  if (path === undefined) return null;
  try {
    return openSanctionsList({ path, canonical, log, now: () => performance.now() });
  } catch (error) {
    throw new ConfigError([`SLUICE_SCREENING_LIST: ${(error as Error).message}`]);
  }
}
