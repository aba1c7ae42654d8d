import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Logger } from './logger.ts';

/** A process has 10 s to stop; what a collector does not take by then is not worth more of them. */
const STOP_MILLISECONDS = 2_000;

export interface Tracing {
  /** Sends what is left to send, 2 s at most; never fails. */
  stop(): Promise<void>;
}

/** What names a process in its traces. */
export interface Traced {
  /** `sluice-api` or `sluice-indexer`; OTEL_SERVICE_NAME goes before it. */
  service: string;
  version: string;
  log: Logger;
}

/**
 * Sends this process's spans to the collector that OpenTelemetry's own variables name (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES, …); undefined when there is none. A collector that cannot be reached costs
 * the spans and nothing else.
 */
export async function openTracing(traced: Traced, env: Readonly<Record<string, string | undefined>>): Promise<Tracing | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-node');
  const { log } = traced;
  const quiet = (message: string, ...rest: unknown[]): void => log.debug({ detail: rest.map(String) }, `tracing: ${message}`);
  diag.setLogger({ error: quiet, warn: quiet, info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return startTracing(traced, [new BatchSpanProcessor(toldOnce(new OTLPTraceExporter(), log))]);
}

/** Makes OpenTelemetry's API keep spans and hand them to `processors`; once per process, until it is stopped. */
export async function startTracing({ service, version }: Omit<Traced, 'log'>, processors: SpanProcessor[]): Promise<Tracing> {
  const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new NodeTracerProvider({ resource, spanProcessors: processors });
  provider.register();
  return {
    async stop() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_MILLISECONDS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

/** Says in the log when a collector takes nothing any more and when it does again, once each. */
function toldOnce(exporter: SpanExporter, log: Logger): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !failing) log.warn({ problem: result.error?.message }, 'the collector takes no traces; they are lost until it does');
        if (!failed && failing) log.info('the collector takes traces again');
        failing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
