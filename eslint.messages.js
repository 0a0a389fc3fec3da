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
const key = 'Use an id or the index as the key: two texts can be the same in another language.';
const message = 'Put texts for users into messages/en and use the function of their key.';

/** Returns whether a text is written in code style: an address, a command, a path or an identifier. */
function isCode(text) {
  return /^(https?:|mailto:|curl |git |[/#.$~-])|^[a-z]+[A-Z_-]\w*$|^\S+[@:/.]\w\S*$/.test(text.trim());
}

/** Names that are the same in every language. */
const names = new Set(['Homeport', 'Python']);

function isText(text) {
  return word.test(text) && !isCode(text) && !names.has(text);
}

/** Returns the constant part of a string or template; undefined for other expressions. */
function findText(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join(' ');
  return undefined;
}

const noLiteralText = {
  meta: { type: 'problem', schema: [], messages: { literal: message, key } },
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
      SvelteEachBlock({ key }) {
        const name = key?.type === 'MemberExpression' ? key.property.name : key?.name;
        if (textNames.has(name)) context.report({ node: key, messageId: 'key' });
      },
      // The third argument of a problem is its sentence, which pages show.
      NewExpression(node) {
        if (node.callee.name === 'Problem') checkExpression(node.arguments[2]);
      },
      Property(node) {
        const name = node.key.name ?? node.key.value;
        if (node.parent.type === 'ObjectExpression' && textNames.has(name)) checkExpression(node.value);
      },
    };
  },
};

/** Modules with the functions of messages. */
const messageModule = /^#messages\/|(?:^|\/)messages\/generated\//;
/** Methods that call their argument before they return. */
const immediateMethods = new Set(['filter', 'find', 'flatMap', 'forEach', 'from', 'map', 'reduce', 'some', 'toSorted']);
const functionTypes = new Set(['ArrowFunctionExpression', 'FunctionDeclaration', 'FunctionExpression']);

/** Returns whether a function is called where it is written: `(() => …)()` or `list.map(() => …)`. */
function isCalledImmediately(node) {
  const { parent } = node;
  if (parent.type !== 'CallExpression') return false;
  return parent.callee === node || immediateMethods.has(parent.callee.property?.name);
}

/** Returns whether Svelte evaluates the arguments of a call again when the language changes. */
function isReactive({ type, callee }) {
  return type === 'CallExpression' && (callee.name === '$derived' || callee.object?.name === '$derived');
}

/** Returns whether an expression is evaluated only once: when its module, component or object is created. */
function isEvaluatedOnce(node) {
  for (let current = node; current; current = current.parent) {
    if (functionTypes.has(current.type) && !isCalledImmediately(current)) return false;
    if (isReactive(current)) return false;
    // Svelte updates the markup, which is outside of the script elements.
    if (current.type === 'SvelteScriptElement') return true;
    if (current.type.startsWith('Svelte')) return false;
  }
  return true;
}

const noStoredText = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { stored: 'This text keeps the language in which it was created. Call the function when it is shown.' },
  },
  create(context) {
    const namespaces = new Set();
    const functions = new Set();
    return {
      ImportDeclaration({ source, specifiers }) {
        if (!messageModule.test(source.value)) return;
        for (const { type, local } of specifiers) {
          (type === 'ImportNamespaceSpecifier' ? namespaces : functions).add(local.name);
        }
      },
      CallExpression(node) {
        const { callee } = node;
        if (!functions.has(callee.name) && !namespaces.has(callee.object?.name)) return;
        if (isEvaluatedOnce(node)) context.report({ node, messageId: 'stored' });
      },
    };
  },
};

/** Returns the configuration that refuses literal texts for users in these files, except for `ignores`. */
export function messageRules(files, ignores = []) {
  return [
    {
      files,
      ignores,
      plugins: { messages: { rules: { 'no-literal-text': noLiteralText } } },
      rules: { 'messages/no-literal-text': 'error' },
    },
  ];
}

/** Returns the value of a constant that is defined once; undefined for parameters and variables that change. */
function findConstant(scope, name) {
  for (let current = scope; current; current = current.upper) {
    const variable = current.set.get(name);
    if (variable === undefined) continue;
    const [definition] = variable.defs;
    const isConstant = definition?.type === 'Variable' && definition.parent.kind === 'const';
    return isConstant && definition.node.id.type === 'Identifier' ? definition.node.init : undefined;
  }
  return undefined;
}

/** Returns whether an expression is a text that is already in the language of the current request. */
function isEvaluated(node, scope) {
  switch (node?.type) {
    case 'CallExpression':
      return true;
    case 'ConditionalExpression':
      return isEvaluated(node.consequent, scope) || isEvaluated(node.alternate, scope);
    case 'LogicalExpression':
      return isEvaluated(node.left, scope) || isEvaluated(node.right, scope);
    case 'Identifier':
      return isEvaluated(findConstant(scope, node.name), scope);
    // The sentence of another problem, which has the function in `text`.
    case 'MemberExpression':
      return node.property.name === 'detail';
    default:
      return false;
  }
}

const noEvaluatedFailure = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      evaluated:
        'A failure of the server is logged in English. Pass the function of its message, or `text` of another problem.',
    },
  },
  create(context) {
    return {
      NewExpression(node) {
        const [, status, text] = node.arguments;
        if (node.callee.name !== 'Problem' || text === undefined) return;
        if (status.type === 'Literal' && status.value < 500) return;
        if (isEvaluated(text, context.sourceCode.getScope(node)))
          context.report({ node: text, messageId: 'evaluated' });
      },
    };
  },
};

/** Returns the configuration that refuses texts which are evaluated only once in these files. */
export function storedTextRules(files) {
  return [
    {
      files,
      plugins: { texts: { rules: { 'no-stored-text': noStoredText } } },
      rules: { 'texts/no-stored-text': 'error' },
    },
  ];
}

/** Returns the configuration that refuses evaluated texts in failures of the server in these files. */
export function failureTextRules(files) {
  return [
    {
      files,
      plugins: { failures: { rules: { 'no-evaluated-failure': noEvaluatedFailure } } },
      rules: { 'failures/no-evaluated-failure': 'error' },
    },
  ];
}
