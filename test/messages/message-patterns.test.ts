import { describe, expect, it } from 'vitest';
import { defineCatalog } from '../../messages/runtime.ts';
import { toParsedMessage } from '../../scripts/message-syntax.ts';
import { anyCount, anyText, containing, getTagText, matching, startingWith } from '../support/message-patterns.ts';

const catalog = defineCatalog('message-patterns', {});
const signedIn = (name: string) => catalog.text(0, toParsedMessage('Signed in as {name}.'), { name });
const files = (count: number) => catalog.text(1, toParsedMessage('{count, plural, other {# files}}'), { count });
const dismissMessage = toParsedMessage('Dismiss<hidden>: {title}</hidden>');
const dismiss = (title: string) => catalog.rich(2, dismissMessage, ['hidden'], { title });
const createdAt = () => catalog.rich(3, toParsedMessage('Created <time></time>, <b>not</b> used'), ['time', 'b']);

describe('patterns of messages', () => {
  it('accepts any text in place of an unknown parameter', () => {
    const pattern = matching(signedIn(anyText));
    const texts = ['Signed in as ada (lamp).', 'Signed in as ada', 'Not Signed in as ada.'];
    expect(texts.filter((text) => pattern.test(text))).toEqual(['Signed in as ada (lamp).']);
  });

  it('takes special characters literally', () => {
    expect(containing(signedIn('a.a')).test('Signed in as ada.')).toBe(false);
    expect(containing(signedIn('a.a (1)')).test('You: Signed in as a.a (1).')).toBe(true);
  });

  it('accepts any number in place of an unknown count', () => {
    const pattern = startingWith(files(anyCount));
    const texts = ['1,234 files', '5 files in total', 'files', 'Only 5 files'];
    expect(texts.filter((text) => pattern.test(text))).toEqual(['1,234 files', '5 files in total']);
  });

  it('accepts the space that browsers add at an element in a name', () => {
    const pattern = matching(dismiss('Lamp'));
    const texts = ['Dismiss: Lamp', 'Dismiss : Lamp', 'Dismiss Lamp'];
    expect(texts.filter((text) => pattern.test(text))).toEqual(['Dismiss: Lamp', 'Dismiss : Lamp']);
  });

  it('accepts any text in a tag that a component fills', () => {
    expect(matching(createdAt()).test('Created 5 min ago, not used')).toBe(true);
  });

  it('finds the text of a tag', () => {
    expect([getTagText(createdAt(), 'b'), getTagText(createdAt(), 'code')]).toEqual(['not', '']);
  });
});
