import { describe, expect, it } from 'vitest';
import { containsTerms, foldText, splitTerms } from '../../renderer/src/state/search-text.ts';

describe('foldText', () => {
  it.each([
    ['Énergie', 'energie'],
    ['Año', 'ano'],
    ['Größe', 'grosse'],
    ['Œuvre', 'oeuvre'],
    ['l’été', "l'ete"],
    ['日本語', '日本語'],
  ])('folds %j to %j', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });
});

describe('containsTerms', () => {
  it.each([
    ['reseau maison', true],
    ['MAISON rés', true],
    ['', true],
    ['réseau bureau', false],
  ])('compares all words of %j without case and accents', (query, isMatch) => {
    expect(containsTerms('Réseau de la maison', query)).toBe(isMatch);
  });

  it('splits a search into folded words', () => {
    expect(splitTerms('  Été  Noël ')).toEqual(['ete', 'noel']);
  });
});
