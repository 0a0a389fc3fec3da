import vitest from '@vitest/eslint-plugin';
import checkFile from 'eslint-plugin-check-file';
import jsdoc from 'eslint-plugin-jsdoc';

/**
 * Names that say nothing about the value, or that have a standard term (docs/glossary.md):
 * `most*` and `longest*` for limits, `xOf` for functions, a participle or an adjective alone.
 */
const privateNames = [
  '(?:most|longest|largest|shortest)[A-Z]\\w*',
  '[a-z]\\w*Of',
  '\\w*[Tt]roubles?(?:[A-Z]\\w*)?',
  '\\w*WordsOf',
  'words(?:Of)?',
  'patienceMs',
  '(?:asked|told|shown|kept|wanted|given|known|found|taken|held|gone|left|said|made|meant|untold)',
  '(?:Asked|Told|Shown|Kept|Wanted|Given|Known|Found|Taken|Held|Gone|Said|Made|Watched)',
  '(?:nobody|somebody|whoever|whose|who|what|whom)',
];

/** First words of a comment that make it a fragment or a riddle instead of a sentence. */
const fragmentOpeners =
  'What|Who|Whom|Whose|Whoever|Whatever|Which|Whichever|Whether|Where|Of|Those|One|Nobody|Somebody|Anybody|None|' +
  'That which|By what|With what|From what|For whom|To whom';

/** Verbs in the third person, with the few that do not end in `s`. */
const testTitle = '^(?:(?:does|do|is|are|has|have|can|cannot|must|may|never) |[a-z]+s\\b)';

/**
 * Limits the length of functions.
 *
 * @param {readonly string[]} files Globs of the code that follows the limit.
 */
export function functionLengthRules(files) {
  return [
    {
      files: [...files],
      rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
    },
  ];
}

/** Fields that contain a sentence. */
const sentenceField = '/^(?:message|detail|sentence|stderr)$/';
/** Texts that begin like a sentence, or have at least four words. */
const sentence = '/^[A-Z][a-z.]+ \\S|(?:[A-Za-z]\\S* ){3}/';
const sentenceMessage =
  'Act on a code, not on the text of a sentence. The texts of a foreign program are classified in one file, which ' +
  'eslint.config.js lists.';

/** Calls that read the text of a sentence. */
const sentenceSelectors = [
  `CallExpression[callee.property.name=/^(?:test|exec)$/] > MemberExpression.arguments[property.name=${sentenceField}]`,
  `CallExpression[callee.property.name=/^(?:test|exec)$/] > Identifier.arguments[name=${sentenceField}]`,
  `CallExpression[callee.property.name=/^(?:includes|startsWith|endsWith|match|search|indexOf)$/][callee.object.property.name=${sentenceField}]`,
  `CallExpression[callee.property.name=/^(?:includes|startsWith|endsWith|has|get)$/] > Literal.arguments[value=${sentence}]`,
  `BinaryExpression[operator=/^[!=]==$/] > Literal[value=${sentence}]`,
  `SwitchCase > Literal.test[value=${sentence}]`,
  `MemberExpression[computed=true] > .property[name=${sentenceField}]`,
  `MemberExpression[computed=true] > MemberExpression.property[property.name=${sentenceField}]`,
  ':not(CallExpression[callee.property.name=/^replace/]) > Literal[regex.pattern=/[a-z]{2,} [a-z]{2,}/i]',
];

/**
 * Rules of composition: `create` builds the parts of a service in order, so that it reads from top to bottom and every
 * part is complete when another one receives it.
 *
 * @param {readonly string[]} roots Globs of the files with `create`.
 * @param {readonly string[]} factories Globs of further files that build several parts.
 */
export function compositionRules(roots, factories) {
  return [
    {
      files: [...roots],
      rules: { 'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }] },
    },
    {
      files: [...roots, ...factories],
      rules: {
        // A closure may not use a constant that is declared below it. Use an event, or create the part before.
        '@typescript-eslint/no-use-before-define': ['error', { functions: false, ignoreTypeReferences: true }],
      },
    },
    {
      // A class would hide forward references: its methods can use fields that the constructor assigns later.
      files: [...roots],
      rules: {
        'no-restricted-syntax': [
          'error',
          { selector: 'ClassDeclaration', message: 'Build the service in `create`.' },
          ...sentenceSelectors.map((selector) => ({ selector, message: sentenceMessage })),
        ],
      },
    },
  ];
}

/** Exported types; schemas with a type of the same name are documented once, at the schema. */
const exportedTypes = [
  'ExportNamedDeclaration > TSInterfaceDeclaration',
  'ExportNamedDeclaration > TSTypeAliasDeclaration:not([typeAnnotation.typeName.right.name="infer"])',
  'ExportNamedDeclaration > VariableDeclaration',
];

/**
 * Requires documentation of every exported symbol.
 *
 * @param {readonly string[]} files Globs of the code that other folders use as an interface.
 */
export function documentedExportRules(files) {
  return [
    {
      files: [...files],
      plugins: { jsdoc },
      rules: {
        'jsdoc/require-jsdoc': [
          'error',
          {
            publicOnly: true,
            enableFixer: false,
            require: { FunctionDeclaration: true, ClassDeclaration: true },
            contexts: exportedTypes,
          },
        ],
      },
    },
  ];
}

/**
 * Rules that keep names, comments and test titles in the language of the field.
 *
 * @param {readonly string[]} files Globs of the production code that follows the rules.
 * @param {readonly string[]} tests Globs of the tests that follow the rules.
 */
export function languageRules(files, tests) {
  return [
    {
      files: [...files],
      plugins: { jsdoc, 'check-file': checkFile },
      rules: {
        'id-match': [
          'error',
          `^(?!(?:${privateNames.join('|')})$).*$`,
          { onlyDeclarations: true, properties: false, ignoreDestructuring: true },
        ],
        'jsdoc/match-description': [
          'error',
          {
            mainDescription: {
              match: `^(?!(?:${fragmentOpeners})\\b)(?![\\s\\S]*\\b(?:nobody|somebody|whoever|anybody)\\b)[\\s\\S]*$`,
              message: 'Begin with a verb or a noun phrase, and name the actor (client, caller, account).',
            },
            contexts: ['any'],
          },
        ],
      },
    },
    {
      files: files.map((glob) => `${glob}.ts`),
      plugins: { 'check-file': checkFile },
      rules: {
        'check-file/filename-naming-convention': [
          'error',
          { '**/*.ts': 'KEBAB_CASE' },
          { ignoreMiddleExtensions: true },
        ],
      },
    },
    {
      files: [...tests],
      plugins: { vitest },
      rules: {
        'vitest/valid-title': [
          'error',
          {
            mustMatch: { it: [testTitle, 'Begin a test title with a verb in the third person.'] },
            ignoreTypeOfDescribeName: true,
          },
        ],
        // A failure hides all later assertions of its test. Assertions of a loop count once.
        'vitest/max-expects': ['error', { max: 12 }],
      },
    },
  ];
}

/**
 * Forbids control flow that depends on the text of a sentence.
 *
 * @param {readonly string[]} files Globs of the code that follows the rule.
 * @param {readonly string[]} readers Files that read texts of foreign programs, formats or users.
 */
export function sentenceRules(files, readers) {
  return [
    {
      files: [...files],
      ignores: [...readers],
      rules: {
        'no-restricted-syntax': [
          'error',
          ...sentenceSelectors.map((selector) => ({ selector, message: sentenceMessage })),
        ],
      },
    },
  ];
}
