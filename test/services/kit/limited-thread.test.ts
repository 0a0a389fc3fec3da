import { describe, expect, it } from 'vitest';
import { getThreadFile } from '../../../services/kit/limited-thread.ts';

describe('getThreadFile', () => {
  it('returns the file beside its caller with the same extension', () => {
    expect(getThreadFile('worker', 'file:///house/main/reader.ts').href).toBe('file:///house/main/worker.ts');
    expect(getThreadFile('worker', 'file:///app/reader.js').href).toBe('file:///app/worker.js');
  });
});
