/** Builds dist/checkout below `root`, writing through `replace`. @throws when a source does not build; there is no manifest then */
export function buildCheckout(parts: { root: string; plugins: unknown[]; replace(path: string, contents: Buffer): Promise<void> }): Promise<void>;

/** The same for dist/console. */
export function buildConsole(parts: { root: string; plugins: unknown[]; replace(path: string, contents: Buffer): Promise<void> }): Promise<void>;
