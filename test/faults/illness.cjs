// Preloaded into a process under test. SIGUSR2 blocks its event loop for good; SIGHUP makes it keep more and more memory, up to
// nearly all there is.
const { getHeapStatistics } = require('node:v8');

process.on('SIGUSR2', () => {
  for (;;);
});

const kept = [];
process.on('SIGHUP', () => {
  setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used < 0.93 * limit) kept.push(Array.from({ length: 20_000 }, (_, at) => ({ at })));
  }, 2);
});
