import { EditorView } from '@codemirror/view';

/** Colors and sizes of the SQL editor, from the variables of the pages. */
export const editorTheme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: 'var(--editor-size)' },
  '&.cm-focused': { outline: '0' },
  // Above the line numbers, which would cover an outline of the editor.
  '&.cm-focused::after': {
    content: '""',
    position: 'absolute',
    zIndex: '300',
    inset: '0',
    outline: '2px solid var(--sea)',
    outlineOffset: '-2px',
    pointerEvents: 'none',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontVariantLigatures: 'none', lineHeight: '1.6' },
  '.cm-content': { padding: '12px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px' },
  '.cm-cursor': { borderInlineStartColor: 'var(--ink)' },
  '.cm-gutters': {
    border: '0',
    borderInlineEnd: '1px solid var(--line)',
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-soft)',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '3em', padding: '0 8px 0 12px' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'color-mix(in oklch, var(--sea), transparent 70%)',
  },
  '.cm-placeholder': { color: 'var(--ink-soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--sea-wash)',
    outline: '1px solid var(--edge)',
  },
  '.wrong-line': { backgroundColor: 'var(--bad-wash)', boxShadow: 'inset 2px 0 var(--bad)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--round)',
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    boxShadow: 'var(--float)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxHeight: 'none',
    minWidth: '0',
    maxWidth: 'min(560px, calc(100vw - 26px))',
    padding: '4px',
    fontFamily: 'var(--mono)',
    fontSize: 'var(--size-small)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px', borderRadius: '4px', lineHeight: '1.4' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--sea-wash)',
    color: 'var(--ink)',
  },
  '.cm-completionMatchedText': { color: 'var(--sea)', fontWeight: '600', textDecoration: 'none' },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal' },
});
