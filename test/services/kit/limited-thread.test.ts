import { describe, expect, it } from 'vitest';
import { threadFile } from '../../../services/kit/limited-thread.ts';

describe('threadFile', () => {
  it('returns the file beside its caller, with the extension of that', () => {
    expect(threadFile('worker', 'file:///house/main/reader.ts').href).toBe('file:///house/main/worker.ts');
    expect(threadFile('worker', 'file:///app/reader.js').href).toBe('file:///app/worker.js');
  });
});
