// Tests of pages find texts by their keys in the catalogs, so that a text can be reworded without a change of tests.
import { readdirSync, readFileSync } from 'node:fs';

const catalogs = new URL('messages/en/', import.meta.url);

/** Methods of Playwright whose first argument is a text of the page. */
const textMethods = new Set([
  'getByAltText',
  'getByLabel',
  'getByPlaceholder',
  'getByText',
  'getByTitle',
  'selectOption',
  'toBe',
  'toContain',
  'toMatch',
]);
/** Options of `getByRole`, `filter`, `locator` and `selectOption` whose value is a text of the page. */
const textOptions = new Set(['name', 'hasText', 'hasNotText', 'label']);
const optionMethods = new Set(['getByRole', 'filter', 'locator', 'selectOption']);

/** Text in place of a parameter of a message, or of the variable part of a literal. */
const variable = '\u0000';

function countWords(text) {
  return text.match(/\p{L}+/gu)?.length ?? 0;
}

/** Returns the literal parts of a message, without its parameters, plurals and tags. */
function splitMessage(text) {
  const parts = [''];
  let depth = 0;
  for (const character of text.replaceAll(/<\/?\w+>/g, '')) {
    if (character === '{' && depth++ === 0) parts.push('');
    else if (character === '}') depth--;
    else if (depth === 0) parts[parts.length - 1] += character;
  }
  return parts;
}

/** Reads the English messages that a test can copy: those of two words or more, and of three if there are parameters. */
function readMessages() {
  const texts = new Map();
  const patterns = [];
  for (const file of readdirSync(catalogs).filter((name) => name.endsWith('.json') && !name.startsWith('_'))) {
    for (const [key, text] of Object.entries(JSON.parse(readFileSync(new URL(file, catalogs), 'utf8')))) {
      const name = `${file.slice(0, -'.json'.length)}.${key}`;
      const parts = splitMessage(text);
      const words = countWords(parts.join(' '));
      if (parts.length === 1 && words >= 2) texts.set(parts[0], name);
      if (parts.length > 1 && words >= 3) {
        const source = parts.map((part) => RegExp.escape(part)).join('.+');
        patterns.push([new RegExp(`^${source}$`, 's'), name]);
      }
    }
  }
  return { texts, patterns };
}

const messages = readMessages();

/** Returns the key of the message that a text copies; undefined if there is none. */
function findMessage(text) {
  if (!text.includes(' ')) return undefined;
  return messages.texts.get(text) ?? messages.patterns.find(([pattern]) => pattern.test(text))?.[1];
}

/** Returns the text of a literal; undefined for other expressions. */
function findText(node) {
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join(variable);
  if (node?.type !== 'Literal') return undefined;
  if (typeof node.value === 'string') return node.value;
  return node.regex?.pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replaceAll(/(?:\\[dSw]|\.|\[[^\]]+\])[*+]/g, variable)
    .replaceAll(/\\(\W)/g, '$1');
}

/** Returns the expressions of a call that are texts of a page. */
function listTexts({ callee, arguments: values }) {
  if (callee.name === 'getToast') return [values[1]];
  const method = callee.property?.name;
  const options = optionMethods.has(method) ? values.filter(({ type }) => type === 'ObjectExpression') : [];
  return [
    ...(textMethods.has(method) ? [values[0]] : []),
    ...options.flatMap(({ properties }) =>
      properties.filter(({ key }) => textOptions.has(key?.name)).map(({ value }) => value),
    ),
  ];
}

const noCopiedMessage = {
  meta: {
    type: 'problem',
    schema: [{ type: 'array', items: { type: 'string' } }],
    messages: { copied: 'This is the message {{name}}. Call its function (#messages/…), so that it can be reworded.' },
  },
  create(context) {
    const data = new Set(context.options[0] ?? []);
    return {
      CallExpression(node) {
        for (const expression of listTexts(node)) {
          const text = findText(expression)?.trim();
          if (text === undefined || data.has(text)) continue;
          const name = findMessage(text);
          if (name !== undefined) context.report({ node: expression, messageId: 'copied', data: { name } });
        }
      },
    };
  },
};

/**
 * Returns the configuration that refuses copied messages in tests.
 *
 * @param {readonly string[]} files Globs of the tests.
 * @param {readonly string[]} data Texts that tests write, and that equal a message.
 */
export function testTextRules(files, data = []) {
  return [
    {
      files,
      plugins: { 'test-texts': { rules: { 'no-copied-message': noCopiedMessage } } },
      rules: { 'test-texts/no-copied-message': ['error', data] },
    },
  ];
}
