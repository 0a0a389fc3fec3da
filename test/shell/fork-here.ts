import { EventEmitter } from 'node:events';
import { serveHost, type ServedHost } from '../../main/desktop/serve-host.ts';
import type { Fork } from '../support/electron.ts';

/**
 * The process of the services, in this one, so that a test can look into it: messages go to and fro as copies, later,
 * as between two processes. The built app's test has a process of its own.
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
      // Nobody may end the process of the tests.
      pid: undefined,
      postMessage: (message: unknown) => deliver(child, message),
      on: parent.on.bind(parent) as never,
    };
  };
}
