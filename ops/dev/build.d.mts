/** Bundles the entry points into dist/. */
export function build(): Promise<void>;
/** Builds unless the last build was of the same inputs and all it made is there; true when something was built. */
export function buildIfChanged(): Promise<boolean>;
/** Makes one program of the sources below `path`, in `output`, as those in dist are made. */
export function bundleProgram(path: string, output: string, instead?: Readonly<Record<string, string>>): Promise<void>;
