// Implements `process.parentPort` of Electron's utility processes over Node's channel.
const listeners = new Map();
Object.defineProperty(process, 'parentPort', {
  value: {
    postMessage: (message) => process.send(message),
    on(name, listener) {
      const told = (data) => listener({ data, ports: [] });
      listeners.set(listener, told);
      process.on(name, told);
    },
  },
});
// Electron's processes do not outlive it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
