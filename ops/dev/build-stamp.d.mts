/** What is being built, as SLUICE_COMMIT or git says. */
export function readCommit(): string;
/** SHA-256 of everything that decides what a build makes. */
export function inputsOf(root?: string): string;
/** True when the last build was of these inputs, and all it made is still there as it was made. */
export function isBuilt(inputs: string, root?: string): boolean;
/** Forgets the last build. */
export function forgetBuild(root?: string): void;
/** Notes what a build was made from and what it made, by paths below `root`. */
export function stampBuild(inputs: string, outputs: string[], root?: string): void;
