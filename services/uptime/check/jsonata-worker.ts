import { parentPort, workerData } from 'node:worker_threads';
import jsonata from 'jsonata';

const { data, path } = workerData as { readonly data: unknown; readonly path: string };
try {
  const value: unknown = await jsonata(path).evaluate(data);
  // What has functions or promises in it cannot be sent.
  parentPort?.postMessage({ value: value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown) });
} catch (error) {
  const trouble =
    typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : 'it fails';
  parentPort?.postMessage({ trouble: trouble.slice(0, 500) });
}
