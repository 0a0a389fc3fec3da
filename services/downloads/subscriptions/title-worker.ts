import { parentPort, workerData } from 'node:worker_threads';
import { titleExpression } from './title-expression.ts';

const { regex, titles } = workerData as { readonly regex: string; readonly titles: readonly string[] };
const expression = titleExpression(regex);
parentPort?.postMessage(titles.map((title) => expression.test(title)));
