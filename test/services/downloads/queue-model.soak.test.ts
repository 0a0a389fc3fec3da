import { describe } from 'vitest';
import { describeQueueModel } from './queue-model.ts';

describe('the queue with its model', () => describeQueueModel([20, 333, 4096, 50_001, 600_613]));
