// Implements `process.parentPort` of Electron's utility processes over Node's channel.
const listeners = new Map();
Object.defineProperty(process, 'parentPort', {
  value: {
    postMessage: (message) => process.send(message),
    on(name, listener) {
      const receive = (data) => listener({ data, ports: [] });
      listeners.set(listener, receive);
      process.on(name, receive);
    },
  },
});
// Electron's processes do not outlive it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
