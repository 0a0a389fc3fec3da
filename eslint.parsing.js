/** Functions that throw on invalid input, and the helper that returns undefined instead. */
const guardedCalls = [
  {
    call: 'CallExpression[callee.object.name="JSON"][callee.property.name="parse"]',
    message: 'Use parseJson or parseJsonOrThrow of services/contracts/parse-json.ts.',
  },
  {
    call: 'CallExpression[callee.name=/^decodeURI(?:Component)?$/]',
    message: 'Use decodePercentEncoding of services/contracts/percent-encoding.ts.',
  },
];
/** A parsed address as the only purpose of a try statement. */
const guardedUrl =
  'TryStatement[handler!=null] > .block > :first-child ' +
  ':matches(AssignmentExpression > .right, VariableDeclarator > .init, ReturnStatement > .argument)' +
  '[type="NewExpression"][callee.name="URL"]';

/** Type test of a record, which `isRecord` contains. */
const recordTests = [
  'LogicalExpression[operator="&&"][left.operator="&&"][right.operator="!"][right.argument.callee.property.name="isArray"] > LogicalExpression.left > BinaryExpression.left[left.operator="typeof"][right.value="object"]',
  'LogicalExpression[operator="||"][left.operator="||"][right.callee.property.name="isArray"] > LogicalExpression.left > BinaryExpression.left[left.operator="typeof"][right.value="object"]',
];

/** @type {import('eslint').Rule.RuleModule} */
const noParsingCopy = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    const report = (message) => (node) => context.report({ node, message });
    const listeners = guardedCalls.map(({ call, message }) => [
      `TryStatement[handler!=null] > .block ${call}`,
      report(message),
    ]);
    return Object.fromEntries([
      ...listeners,
      [guardedUrl, report('Use URL.parse, which returns null for an invalid address.')],
      ...recordTests.map((selector) => [selector, report('Use isRecord of services/contracts/is-record.ts.')]),
    ]);
  },
};

/**
 * Forbids copies of the guarded parsers and of the record test, which `services/contracts` contains.
 *
 * @param {readonly string[]} files Globs of the code that follows the rule.
 * @param {readonly string[]} implementations Files that contain the implementations.
 */
export function guardedParsingRules(files, implementations) {
  return [
    {
      files: [...files],
      ignores: [...implementations],
      plugins: { parsing: { rules: { 'no-copy': noParsingCopy } } },
      rules: { 'parsing/no-copy': 'error' },
    },
  ];
}
