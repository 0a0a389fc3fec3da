import { describeWaiting } from './waiting.ts';

describeWaiting(10_000);
