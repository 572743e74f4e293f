/** The parsers of workbooks; what they read is corrupted before it is compressed, and after. */
import assert from 'node:assert/strict';
import {
  classifyFormat, parseNumberCell, SheetRow,
} from '../../src/transfer/workbook/cells.ts';
import {
  kindsOf, makeWorkbook, makeZip, readRecords, relationships, sheetXml, stringsXml, stylesXml,
  workbookParts, workbookXml,
} from '../transfer/workbook/make-workbook.ts';
import type { Parser } from './parsers.ts';

const SHEET = sheetXml('<row r="1" hidden="1"><c r="A1" t="s"><v>0</v></c><c t="s"><v>1</v></c>'
  + '<c t="inlineStr"><is><t>c&amp;_x0041_</t></is></c></row><!-- b --><row><c s="1"><f>A1</f>'
  + '<v>1.5E-3</v></c><c r="B2" s="2"><v>46082</v></c><c t="b"><v>1</v></c>'
  + '<c t="e"><v>#N/A</v></c><c t="str"><v><![CDATA[x]]></v></c></row>',
  '<mergeCells><mergeCell ref="A1:A2"/></mergeCells>');
const PREFIXED = SHEET.replaceAll(/<(\/?)(?=\w)/g, '<$1x:');
const STRINGS = stringsXml(['<t>a</t>', '<r><t>b&#65;</t></r><rPh><t>c</t></rPh>']);
const STYLES = stylesXml(['General', '000', 'd', '0%']);
const WORKBOOK =
  workbookXml('<sheet name="A" r:id="rId1"/>', '<calcPr calcId="1" fullCalcOnLoad="1"/>');
const RELATIONSHIPS = relationships(['worksheet', 'worksheets/sheet1.xml'], ['styles', '/a/b.xml']);
/** Each byte is one character. */
const FILES = [{ isStored: true }, { isZip64: true }, {}].map((options) =>
  makeZip(workbookParts(SHEET).map((part) => ({ ...part, ...options }))).toString('latin1'));

export const WORKBOOK_PARSERS: Readonly<Record<string, Parser>> = {
  workbookFile: {
    samples: FILES,
    async check(text) {
      await readRecords(Buffer.from(text, 'latin1'));
    },
  },
  workbookParts: {
    samples: [STRINGS, STYLES, WORKBOOK, RELATIONSHIPS],
    async check(text) {
      const name = text.includes('<si') ? 'xl/sharedStrings.xml'
        : text.includes('<xf') ? 'xl/styles.xml'
          : text.includes('Id=') ? 'xl/_rels/workbook.xml.rels' : 'xl/workbook.xml';
      await readRecords(makeWorkbook(SHEET, { [name]: text }));
    },
  },
  sheet: {
    samples: [SHEET, PREFIXED],
    async check(_, bytes) {
      const parts = { 'xl/sharedStrings.xml': STRINGS, 'xl/styles.xml': STYLES };
      let last = 0;
      for (const record of await readRecords(makeWorkbook(bytes, parts))) {
        const { line, cells } = record;
        const kinds = kindsOf(record);
        assert.ok(line > last && cells.length > 0 && cells.length === kinds.length);
        last = line;
        for (const [index, kind] of kinds.entries()) {
          const cell = cells[index] ?? '';
          if (kind === 'number') assert.match(cell, /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
          if (kind === 'text') assert.ok(cell !== '' && cell === cell.trim());
          if (kind === 'blank') assert.equal(cell, '');
        }
      }
    },
  },
  numberFormat: {
    samples: ['General', '#,##0.00 "kg"', '[$-409]d/m/yy h:mm;@', '_-* 0.0,, [Red]', '0.00E+00'],
    check(text) {
      const kind = classifyFormat(164, text);
      const cell = parseNumberCell(text, kind, false);
      assert.ok(cell.kind === kind || cell.kind === 'error');
      const row = new SheetRow(1);
      row.set(0, cell);
      const error = row.validate(0, 'identifier');
      assert.equal(error?.code ?? 'format', 'format');
    },
  },
};
