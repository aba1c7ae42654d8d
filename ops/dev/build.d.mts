/** Bundles the entry points into dist/. */
export function build(): Promise<void>;
