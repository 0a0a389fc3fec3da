import { describe, expect, it } from 'vitest';
import { checkSource, checkTranslation, findUnused } from '../../scripts/check-messages.ts';
import { describeMessage, toParsedMessage } from '../../scripts/message-syntax.ts';

describe('check of message catalogs', () => {
  it('accepts complete catalogs', () => {
    const source = { title: 'Delete {name}?', count: '{count, plural, one {# file} other {# files}}' };
    const german = { title: '{name} löschen?', count: '{count, plural, one {# Datei} other {# Dateien}}' };

    expect(checkSource('test', source)).toEqual([]);
    expect(checkTranslation('de', 'test', source, german, [])).toEqual([]);
  });

  it('reports a malformed message with its key', () => {
    expect(checkSource('test', { title: 'Delete {name' })).toEqual([expect.stringContaining('test.title: malformed')]);
  });

  it.each([
    ['<name>{name}</name>', 'the tag <name> and a parameter have the same name'],
    ['{share, number, percent} busy', 'the format "percent" is not defined; write a skeleton: "::percent"'],
    ['{when, date, ::yMMMd}', 'message with a date'],
  ])('reports the syntax of "%s" in each language', (text, problem) => {
    expect(checkSource('test', { title: text })).toEqual([expect.stringContaining(problem)]);
    expect(checkTranslation('de', 'test', { title: 'Title' }, { title: text }, [])).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  it.each([
    ['Starts anew', 'restart'],
    ['Empty: no limit', 'Leave empty'],
    ['Make a backup', 'Create'],
    ['The file is not there any more', 'no longer'],
    ['Choose a folder', 'select'],
  ])('reports the wording of "%s"', (text, advice) => {
    expect(checkSource('test', { title: text })).toEqual([expect.stringContaining(advice)]);
  });

  it.each([
    [{}, 'missing'],
    [{ title: '' }, 'missing'],
    [{ title: 'Delete {name}?' }, 'untranslated'],
    [{ title: 'Löschen?' }, 'parameters'],
    [{ title: '{name} löschen?', extra: 'Mehr' }, 'not in the English catalog'],
  ])('reports the translation %j', (german, problem) => {
    expect(checkTranslation('de', 'test', { title: 'Delete {name}?' }, german, [])).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  it('accepts a plural in place of a number, but not in place of a text', () => {
    const german = { title: '{count, plural, one {# Datei} other {# Dateien}}' };

    expect(checkTranslation('de', 'test', { title: 'Files: {count, number}' }, german, [])).toEqual([]);
    expect(checkTranslation('de', 'test', { title: 'Files: {count}' }, german, [])).toEqual([
      expect.stringContaining('parameters'),
    ]);
  });

  it('reports a case that a translation lacks', () => {
    const source = { run: '{status, select, running {running} completed {completed} other {{label}}}' };
    const german = { run: '{status, select, running {abgeschlossen} other {{label}}}' };

    expect(checkTranslation('de', 'test', source, german, [])).toEqual([expect.stringContaining('status=completed')]);
  });

  it.each([
    ['de', '{share} % belegt'],
    ['fr', 'Nom : {name}'],
    ['fr', 'Supprimer le fichier ?'],
    ['fr', 'Ouvrez « Réseau ».'],
    ['es', 'Eliminar el archivo?'],
  ])('reports the typography of the %s text "%s"', (language, text) => {
    const source = { title: `English: ${text}` };

    expect(checkTranslation(language, 'test', source, { title: text }, [])).toHaveLength(1);
  });

  it.each([
    ['de', '{share}\u00a0% belegt, %(title)s'],
    ['fr', 'Nom\u00a0: {name}. Supprimer\u202f? Motif avec * et ? comme caractères.'],
    ['fr', 'Ouvrez «\u00a0Réseau\u00a0».'],
    ['es', '¿Eliminar el archivo? Un patrón con * y ?, o ?auth=.'],
  ])('accepts the typography of the %s text "%s"', (language, text) => {
    const source = { title: `English: ${text}` };

    expect(checkTranslation(language, 'test', source, { title: text }, [])).toEqual([]);
  });

  it('accepts a text that is the same in both languages when it is listed', () => {
    expect(checkTranslation('de', 'test', { title: 'Status' }, { title: 'Status' }, ['Status'])).toEqual([]);
  });

  it('finds messages that no source file uses', () => {
    const catalogs = new Map([['test', { used: 'A', unused: 'B' }]]);

    expect(findUnused(catalogs, ["import * as m from '#messages/test';\nm.used();"])).toEqual(['test.unused']);
  });
});

describe('syntax of messages', () => {
  it('derives the types of parameters and the tags', () => {
    const text = '{count, plural, one {#} other {#}} {kind, select, a {A} other {B}} {name} <link>{label}</link>';

    expect(describeMessage(text)).toEqual({
      values: { count: 'number', kind: 'string', name: 'MessageValue', label: 'MessageValue' },
      tags: ['link'],
    });
  });

  it('stores a message without parameters as text', () => {
    expect(toParsedMessage("It's '{'plain'}'")).toBe("It's {plain}");
  });
});
