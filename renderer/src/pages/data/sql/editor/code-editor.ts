import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  completionStatus,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state';
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder as showPlaceholder,
  tooltips,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { DataNames } from '../../../../../../services/contracts/data/sql.ts';
import { editorTheme } from './editor-theme.ts';
import { buildTabEdit } from './indentation.ts';
import { buildColumnSource, buildFunctionSource, buildTableSource } from './sql-completion.ts';

/** Number of listed completions; the list moves on with the arrow keys instead of scrolling. */
const maxRenderedOptions = 10;
/** Distance in px of the list from the sides of the window. */
const tooltipMargin = 12;

interface CodeEditorOptions {
  readonly parent: ShadowRoot;
  readonly text: string;
  /** Accessible name and description. */
  readonly label: string;
  readonly description: string;
  readonly placeholder: string;
  readonly onchange: (text: string) => void;
  readonly onrun: () => void;
  readonly onformat: () => void;
  readonly onselection: (isSelected: boolean) => void;
}

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.operatorKeyword], color: 'var(--sea)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number], color: 'var(--warn)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--ink-soft)', fontStyle: 'italic' },
]);

/**
 * SQL editor with highlighting and completion. It is created in a shadow root, because CodeMirror adds its styles there
 * without style elements, which the content security policy refuses.
 */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  readonly #placeholder = new Compartment();
  readonly #wrongLine = new Compartment();

  constructor({ parent, text, label, description, placeholder, ...handlers }: CodeEditorOptions) {
    const command =
      (work: () => void) =>
      (view: EditorView): boolean => {
        closeCompletion(view);
        work();
        return true;
      };
    const extensions: readonly Extension[] = [
      Prec.highest(
        keymap.of([
          { key: 'Mod-Enter', run: command(handlers.onrun) },
          { key: 'Shift-Alt-f', run: command(handlers.onformat) },
          {
            key: 'Tab',
            run: (view) => acceptCompletion(view) || indent(view, false),
            shift: (view) => indent(view, true),
          },
        ]),
      ),
      lineNumbers(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ icons: false, maxRenderedOptions }),
      tooltips({ tooltipSpace: getTooltipSpace }),
      syntaxHighlighting(highlighting),
      this.#language.of(buildLanguage(undefined)),
      this.#placeholder.of(showPlaceholder(placeholder)),
      this.#wrongLine.of([]),
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-description': description,
        autocapitalize: 'none',
        tabindex: '0',
        spellcheck: 'false',
      }),
      EditorView.domEventHandlers({ beforeinput: replaceSelection, blur: dismissCompletion }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) handlers.onchange(update.state.doc.toString());
        if (update.selectionSet) handlers.onselection(!update.state.selection.main.empty);
      }),
      editorTheme,
    ];
    this.#view = new EditorView({ state: EditorState.create({ doc: text, extensions }), parent, root: parent });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Returns the selected text and its start; the text is empty without a selection. */
  get selection(): { readonly text: string; readonly start: number } {
    const { from, to } = this.#view.state.selection.main;
    return { text: this.#view.state.sliceDoc(from, to), start: from };
  }

  focus(): void {
    this.#view.focus();
  }

  select(start: number, end: number): void {
    this.#view.dispatch({ selection: { anchor: start, head: end }, scrollIntoView: true });
    this.#view.focus();
  }

  /** Replaces the text; undo restores the earlier one. */
  replaceAll(text: string): void {
    this.#view.dispatch({
      changes: { from: 0, to: this.#view.state.doc.length, insert: text },
      selection: { anchor: 0 },
      scrollIntoView: true,
      // One step of undo, also right after typing.
      annotations: isolateHistory.of('full'),
    });
  }

  setPlaceholder(text: string): void {
    this.#view.dispatch({ effects: this.#placeholder.reconfigure(showPlaceholder(text)) });
  }

  /** Sets the names for completion. */
  setNames(names: DataNames): void {
    this.#view.dispatch({ effects: this.#language.reconfigure(buildLanguage(names)) });
  }

  /** Marks the line with an error, from 1; undefined marks none. */
  setWrongLine(line: number | undefined): void {
    const { doc } = this.#view.state;
    const marked = line === undefined || line > doc.lines ? undefined : doc.line(line);
    const decoration = Decoration.line({ class: 'wrong-line' });
    const extension =
      marked === undefined ? [] : EditorView.decorations.of(Decoration.set([decoration.range(marked.from)]));
    this.#view.dispatch({ effects: this.#wrongLine.reconfigure(extension) });
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/** Returns the area of the window for the list of completions, which keeps a distance from its sides. */
function getTooltipSpace(): { left: number; right: number; top: number; bottom: number } {
  return { left: tooltipMargin, right: innerWidth - tooltipMargin, top: 0, bottom: innerHeight };
}

/** Builds the language with its completion: keywords, and names once they are loaded. */
function buildLanguage(names: DataNames | undefined): Extension {
  if (names === undefined) return sql({ dialect: PostgreSQL });
  return [
    sql({ dialect: PostgreSQL }),
    PostgreSQL.language.data.of({ autocomplete: buildTableSource(names) }),
    PostgreSQL.language.data.of({ autocomplete: buildColumnSource(names) }),
    PostgreSQL.language.data.of({ autocomplete: buildFunctionSource(names) }),
  ];
}

/**
 * Replaces the selected text by the typed one. The browser would keep the style of the replaced text in a style
 * attribute, which the content security policy refuses. Brackets and quotes enclose the selection instead.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const isEnclosing = data !== null && /^[([{'"]$/.test(data);
  if (inputType !== 'insertText' || data === null || isEnclosing) return false;
  const { from, to } = getSelectedRange(view);
  if (from === to) return false;
  const insert = view.state.toText(data);
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.type',
    scrollIntoView: true,
  });
  event.preventDefault();
  return true;
}

/**
 * Returns the text that is selected in the page. The selection of the editor's state is updated later if it changed
 * immediately before, and in a shadow root the event of an input has no ranges.
 */
function getSelectedRange(view: EditorView): { readonly from: number; readonly to: number } {
  const shadowRoots = view.root instanceof ShadowRoot ? [view.root] : [];
  const range = getSelection()?.getComposedRanges({ shadowRoots })[0];
  const { contentDOM } = view;
  if (range === undefined || !contentDOM.contains(range.startContainer) || !contentDOM.contains(range.endContainer))
    return view.state.selection.main;
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}

/** Cancels a completion that is still being looked up; CodeMirror closes only lists that are already open. */
function dismissCompletion(_event: FocusEvent, view: EditorView): void {
  // The focus can move while the editor is being updated.
  setTimeout(() => completionStatus(view.state) === 'pending' && closeCompletion(view));
}

/** Indents or unindents the selected lines, or inserts spaces up to the next tab stop. */
function indent(view: EditorView, isOutdent: boolean): boolean {
  const { from, to } = view.state.selection.main;
  const edit = buildTabEdit(view.state.doc.toString(), from, to, isOutdent);
  view.dispatch({
    changes: { from: edit.from, to: edit.to, insert: edit.text },
    selection: { anchor: edit.start, head: edit.end },
    userEvent: 'input.indent',
  });
  return true;
}
