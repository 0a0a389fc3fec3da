// Loaded into a server whose memory is measured, so that garbage is not counted.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
});
