/** Bundles the entry points into dist/. */
export function build(): Promise<void>;
/** Builds unless the last build was of the same inputs and all it made is there; true when something was built. */
export function buildIfChanged(): Promise<boolean>;
