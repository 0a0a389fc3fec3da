/** Modules of Node whose functions depend on the operating system. */
const fileModules = String.raw`/^(?:node:)?fs(?:\u002fpromises)?$/`;
const fileObjects = '/^(?:fs|fsp|promises)$/';
const layerMessage =
  'Use services/kit/platform or main/host/platform, whose functions take the platform as a parameter.';
const replacementMessage = 'Use services/kit/platform/file-replacement.ts, which tries again while a file is in use.';

/** Ways to read the operating system. */
const platformReads = [
  'MemberExpression[object.name="process"][property.name="platform"]',
  'MemberExpression[object.name="os"][property.name="platform"]',
  'VariableDeclarator[init.name="process"] > ObjectPattern > Property[key.name="platform"]',
  'ImportDeclaration[source.value=/^(?:node:)?(?:os|process)$/] > ImportSpecifier[imported.name="platform"]',
];

/** Renames and recursive removals, which fail on Windows while another program has a file open. */
const fileChanges = [
  `ImportDeclaration[source.value=${fileModules}] > ImportSpecifier[imported.name=/^rename(?:Sync)?$/]`,
  `MemberExpression[object.name=${fileObjects}][property.name=/^rename(?:Sync)?$/]`,
  'CallExpression[callee.name=/^rm(?:Sync)?$/] > ObjectExpression > Property[key.name="recursive"]',
  `CallExpression[callee.object.name=${fileObjects}][callee.property.name=/^rm(?:Sync)?$/] > ObjectExpression > Property[key.name="recursive"]`,
];

/** Programs and files of one operating system. */
const systemNames = [
  'Literal[value=/^(?:taskkill|tasklist|lsof|netstat|netsh|powershell|ioreg)(?:[.]exe)?$/]',
  'CallExpression[callee.name=/^(?:spawn|exec)/] > Literal.arguments:first-child[value=/^(?:ps|reg|ping6?)$/]',
  'Property[key.name="file"] > Literal[value=/^(?:ps|reg|ping6?)$/]',
  String.raw`Literal[value=/^\u002fproc(?:\u002f|$)/]`,
  String.raw`TemplateElement[value.raw=/^\u002fproc\u002f/]`,
];

/** @type {import('eslint').Rule.RuleModule} */
const systemDetails = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    const report = (message) => (node) => context.report({ node, message });
    return Object.fromEntries([
      ...[...platformReads, ...systemNames].map((selector) => [selector, report(layerMessage)]),
      ...fileChanges.map((selector) => [selector, report(replacementMessage)]),
    ]);
  },
};

/** @type {import('eslint').Rule.RuleModule} */
const platformRead = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    const report = (node) => context.report({ node, message: 'Use the platform of scripts/commands.mjs.' });
    return Object.fromEntries(platformReads.map((selector) => [selector, report]));
  },
};

const plugin = { rules: { 'no-system-details': systemDetails, 'no-platform-read': platformRead } };

/**
 * Forbids code that depends on the operating system outside of the platform folders (docs/decisions/0240).
 *
 * @param {readonly string[]} files Globs of the program, which follows all rules.
 * @param {readonly string[]} layers Globs of the platform folders.
 * @param {{ readonly files: readonly string[]; readonly layers: readonly string[] }} scripts Globs of the scripts, which
 * only must not read the platform, and of their platform file.
 */
export function platformRules(files, layers, scripts) {
  return [
    {
      files: [...files],
      ignores: [...layers],
      plugins: { platform: plugin },
      rules: { 'platform/no-system-details': 'error' },
    },
    {
      files: [...scripts.files],
      ignores: [...scripts.layers],
      plugins: { platform: plugin },
      rules: { 'platform/no-platform-read': 'error' },
    },
  ];
}
