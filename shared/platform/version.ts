import manifest from '../../package.json' with { type: 'json' };

/** The version of this build, as package.json has it. */
export const VERSION: string = manifest.version;

/** Written by the build in place of this name. */
declare const SLUICE_BUILD_COMMIT: string | undefined;

/** Commit this was built from; `unknown` where nobody built it. */
export const COMMIT: string = typeof SLUICE_BUILD_COMMIT === 'string' ? SLUICE_BUILD_COMMIT : 'unknown';
