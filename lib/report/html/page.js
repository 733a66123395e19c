"use strict";
/*
 * The page says all it has to say without this. Here: reading values off a chart, by pointer or
 * arrow keys, from the table that stands below it; sorting and searching the long tables.
 */
(() => {
	const svgns = "http://www.w3.org/2000/svg";

	const clamp = (n, low, high) => Math.min(Math.max(n, low), high);

	/* "steps": a row of the table is a stretch of the x axis; "points": a place on it; "lanes":
	 * as steps, and a column is a lane. */
	function chart(figure) {
		const plot = figure.querySelector(".plot"), mode = plot.dataset.mode;
		const rows = figure.querySelectorAll(".values tbody tr");
		const heads = [...figure.querySelectorAll(".values thead th")].map(th => th.textContent);
		const readout = document.createElement("p");
		const lanes = heads.length - 1;
		let at = -1, lane = 0;

		if (mode === "none" || !rows.length)
			return;

		const drawings = [...plot.querySelectorAll("svg")].map(svg => {
			const box = {};
			for (const side of ["left", "right", "top", "bottom"])
				box[side] = +svg.dataset[side];
			const cursor = document.createElementNS(svgns, "path");
			cursor.setAttribute("class", "cursor");
			svg.append(cursor);
			return {svg, box, cursor, width: svg.viewBox.baseVal.width};
		});

		function show() {
			const share = mode === "points" ? at / (rows.length - 1) : (at + .5) / rows.length;
			for (const {box, cursor} of drawings) {
				const x = box.left + reach() * share * (box.right - box.left);
				const height = (box.bottom - box.top) / lanes;
				const top = mode === "lanes" ? box.top + height * lane : box.top;
				const bottom = mode === "lanes" ? top + height : box.bottom;
				cursor.setAttribute("d", `M${x} ${top}V${bottom}`);
			}
			const cells = rows[at].cells;
			const parts = mode === "lanes" ? [lane + 1] : [...heads.keys()].slice(1);
			readout.replaceChildren(cells[0].textContent + ": ");
			parts.forEach((k, i) => {
				const value = document.createElement("b");
				value.textContent = cells[k].textContent;
				readout.append(i ? ", " : "", heads[k] + " ", value);
			});
		}

		/* The last stretch may reach beyond the end of the axis. */
		function reach() {
			return +(plot.dataset.reach || 1);
		}

		function pointed(event) {
			const drawing = drawings.find(d => d.svg.contains(event.target));
			if (!drawing)
				return;
			const rect = drawing.svg.getBoundingClientRect(), {box, width} = drawing;
			const scale = width / rect.width;
			const x = (event.clientX - rect.left) * scale, y = (event.clientY - rect.top) * scale;
			const share = (x - box.left) / (box.right - box.left) / reach();
			at = mode === "points" ? Math.round(share * (rows.length - 1))
				: Math.floor(share * rows.length);
			at = clamp(at, 0, rows.length - 1);
			lane = clamp(Math.floor((y - box.top) / (box.bottom - box.top) * lanes), 0, lanes - 1);
			show();
		}

		function pressed(event) {
			const moves = {
				ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1,
				PageUp: at - 10, PageDown: at + 10,
			};
			if (event.key in moves)
				at = moves[event.key];
			else if (mode === "lanes" && event.key === "ArrowDown")
				lane++;
			else if (mode === "lanes" && event.key === "ArrowUp")
				lane--;
			else
				return;
			at = clamp(at, 0, rows.length - 1);
			lane = clamp(lane, 0, lanes - 1);
			event.preventDefault();
			show();
		}

		readout.className = "readout";
		readout.setAttribute("aria-live", "polite");
		plot.after(readout);
		readout.textContent = "Point at the chart, or use the arrow keys, to read values.";
		plot.tabIndex = 0;
		plot.addEventListener("pointermove", pointed);
		plot.addEventListener("pointerdown", pointed);
		plot.addEventListener("keydown", pressed);
	}

	function number(cell) {
		return cell.dataset.n === undefined ? null : +cell.dataset.n;
	}

	function sort(table, column, th) {
		const body = table.tBodies[0], up = th.getAttribute("aria-sort") === "descending";
		const rows = [...body.rows].map(row => {
			const cell = row.cells[column];
			return {row, n: number(cell), text: cell.textContent};
		});
		const order = up ? 1 : -1;
		rows.sort((a, b) => a.n !== null ? order * (a.n - b.n)
			: -order * a.text.localeCompare(b.text));
		body.replaceChildren(...rows.map(r => r.row));
		for (const other of th.parentNode.cells)
			other.removeAttribute("aria-sort");
		th.setAttribute("aria-sort", up ? "ascending" : "descending");
	}

	function sortable(table) {
		[...table.tHead.rows[0].cells].forEach((th, column) => {
			const button = document.createElement("button");
			button.append(...th.childNodes);
			button.type = "button";
			button.addEventListener("click", () => sort(table, column, th));
			th.append(button);
		});
		if (table.tBodies[0].rows.length > 12)
			searchable(table);
	}

	function searchable(table) {
		const bar = document.createElement("div"), label = document.createElement("label");
		const input = document.createElement("input"), found = document.createElement("span");
		const texts = new Map();

		bar.className = "search";
		input.type = "search";
		label.append(table.dataset.search + " ", input);
		found.setAttribute("aria-live", "polite");
		bar.append(label, found);
		table.parentNode.before(bar);
		input.addEventListener("input", () => {
			const words = input.value.toLowerCase();
			let count = 0;
			for (const row of table.tBodies[0].rows) {
				if (!texts.has(row))
					texts.set(row, (row.cells[0].textContent + " " +
						row.cells[1].textContent).toLowerCase());
				row.hidden = !texts.get(row).includes(words);
				count += !row.hidden;
			}
			found.textContent = words ? `${count} found` : "";
		});
	}

	document.querySelectorAll("figure.chart").forEach(figure => {
		if (figure.querySelector(".plot"))
			chart(figure);
	});
	document.querySelectorAll("table.sortable").forEach(sortable);
	document.querySelectorAll("details table[data-search]").forEach(searchable);
})();
