import { parentPort, workerData } from 'node:worker_threads';
import { parseMail } from './parse.ts';

const { raw, cut } = workerData as { readonly raw: Uint8Array; readonly cut: boolean };
const mail = await parseMail(raw, cut);
const files = mail.attachments.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes.buffer]));
// Files move over instead of being copied; parts of one mail may share a buffer.
parentPort?.postMessage(mail, [...new Set(files)]);
