import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { addToHistory, clearHistory, readHistory } from '../../renderer/src/pages/data/history/history.ts';
import { readDraft, storeDraft } from '../../renderer/src/pages/data/sql/statement-draft.ts';

describe('the browser storage of SQL statements', () => {
  const stored = new Map<string, string>();
  beforeEach(() => {
    stored.clear();
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, text: string) => void stored.set(name, text),
      removeItem: (name: string) => void stored.delete(name),
    });
  });
  afterAll(() => vi.unstubAllGlobals());

  const entry = { text: "select 'secret of ada'", at: 1, role: 'owner', ms: 1, refusal: '' };

  it('shows statements only to the account that wrote them', () => {
    addToHistory('ada', entry);
    storeDraft('ada', 'update notes');
    expect(readHistory('ada')).toEqual([entry]);
    expect(readDraft('ada')).toBe('update notes');
    expect(readHistory('linus')).toEqual([]);
    expect(readDraft('linus')).toBe('');
    clearHistory('linus');
    expect(readHistory('ada')).toEqual([entry]);
  });

  it('gives statements of earlier versions to the account that reads them first', () => {
    stored.set('homeport.data.history', JSON.stringify([entry]));
    stored.set('homeport.data.draft', 'update notes');
    expect([readHistory('ada'), readDraft('ada')]).toEqual([[entry], 'update notes']);
    expect([readHistory('linus'), readDraft('linus')]).toEqual([[], '']);
    expect([readHistory('ada'), readDraft('ada')]).toEqual([[entry], 'update notes']);
  });
});
