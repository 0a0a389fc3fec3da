import { describe } from 'vitest';
import { describeQueueModel } from './queue-model.ts';

describe('the queue with its model', () => describeQueueModel([1]));
