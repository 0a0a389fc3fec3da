// Texts for users are in the catalogs of messages, see docs/contributing/translating.md.

/** Attributes and properties whose value is a text for users. */
const textNames = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-roledescription',
  'aria-valuetext',
  'caption',
  'description',
  'heading',
  'hint',
  'label',
  'message',
  'note',
  'placeholder',
  'subject',
  'submitLabel',
  'title',
]);

/** Letters that form a word in any script; a unit or a single letter is no text. */
const word = /\p{L}{3,}/u;
const message = 'Put texts for users into messages/en and use the function of their key.';

/** Returns whether a text is written in code style: an address, a command, a path or an identifier. */
function isCode(text) {
  return /^(https?:|mailto:|curl |git |[/#.$~-])|^[a-z]+[A-Z_-]\w*$|^\S+[@:/.]\w\S*$/.test(text.trim());
}

function isText(text) {
  return word.test(text) && !isCode(text);
}

/** Returns the constant part of a string or template; undefined for other expressions. */
function findText(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join(' ');
  return undefined;
}

const noLiteralText = {
  meta: { type: 'problem', schema: [], messages: { literal: message } },
  create(context) {
    const report = (node) => context.report({ node, messageId: 'literal' });
    const checkExpression = (node) => {
      if (node?.type === 'ConditionalExpression') [node.consequent, node.alternate].forEach(checkExpression);
      else if (node?.type === 'LogicalExpression') checkExpression(node.right);
      else if (isText(findText(node) ?? '')) report(node);
    };
    return {
      SvelteText(node) {
        const element = node.parent?.name?.name;
        if (['code', 'style', 'script', 'kbd', 'pre'].includes(element)) return;
        if (isText(node.value)) report(node);
      },
      SvelteAttribute(node) {
        if (!textNames.has(node.key.name)) return;
        for (const part of node.value) {
          if (part.type === 'SvelteLiteral' && isText(part.value)) report(part);
          if (part.type === 'SvelteMustacheTag') checkExpression(part.expression);
        }
      },
      SvelteMustacheTag(node) {
        if (node.parent.type !== 'SvelteAttribute') checkExpression(node.expression);
      },
      Property(node) {
        const name = node.key.name ?? node.key.value;
        if (node.parent.type === 'ObjectExpression' && textNames.has(name)) checkExpression(node.value);
      },
    };
  },
};

/** Returns the configuration that refuses literal texts for users in these files. */
export function messageRules(files) {
  return [
    {
      files,
      plugins: { messages: { rules: { 'no-literal-text': noLiteralText } } },
      rules: { 'messages/no-literal-text': 'error' },
    },
  ];
}
