import { EventEmitter } from 'node:events';
import { serveHost, type ServedHost } from '../../main/desktop/serve-host.ts';
import type { Fork } from '../support/electron.ts';

/**
 * Runs the host process within this one for inspection by tests: messages are copied and delivered asynchronously, as
 * between two processes. The test of the built app uses a separate process.
 */
export function forkHere(open: ServedHost['open']): Fork {
  return () => {
    const [parent, child] = [new EventEmitter(), new EventEmitter()];
    let ended = false;
    const deliver = (to: EventEmitter, message: unknown): void => {
      const copy: unknown = structuredClone(message);
      setImmediate(() => {
        if (!ended) to.emit('message', copy);
      });
    };
    setImmediate(() =>
      serveHost({
        line: {
          send: (message) => deliver(parent, message),
          receive: (listener) => void child.on('message', listener),
        },
        open,
        exit(code) {
          ended = true;
          parent.emit('exit', code);
        },
      }),
    );
    return {
      // The test process must not be killed.
      pid: undefined,
      postMessage: (message: unknown) => deliver(child, message),
      on: parent.on.bind(parent) as never,
    };
  };
}
