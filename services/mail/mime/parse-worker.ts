import { parentPort, workerData } from 'node:worker_threads';
import { parseMail } from './parse.ts';

parentPort?.postMessage(await parseMail(workerData as Uint8Array));
