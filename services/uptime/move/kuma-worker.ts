import { parentPort, workerData } from 'node:worker_threads';
import { Problem } from '../../contracts/problem.ts';
import { openKumaDatabase } from './kuma-database.ts';
import type { FromKuma, ToKuma } from './kuma-messages.ts';

/** Reads a kuma.db: what is set at once, and then what each monitor did as it is asked. */
function begin(file: string, tell: (message: FromKuma) => void): (asked: ToKuma) => void {
  try {
    const database = openKumaDatabase(file);
    tell({ kind: 'holding', holding: database.holding });
    return ({ monitor, now }) => tell({ kind: 'past', past: database.past(monitor, now) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    tell({ kind: 'refused', detail: error.detail });
    return () => undefined;
  }
}

const port = parentPort;
if (port !== null) {
  const { file } = workerData as { readonly file: string };
  port.on(
    'message',
    begin(file, (message) => port.postMessage(message)),
  );
}
