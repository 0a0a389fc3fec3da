import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';

function read(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch {
    return undefined; // No YAML.
  }
}

parentPort?.postMessage((workerData as readonly string[]).map(read));
