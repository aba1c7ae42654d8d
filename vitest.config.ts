import config from './test/vitest.config.ts';

export default config;
