#!/bin/sh
# Puts the course into your home folder, or brings its newest version there; your answers stay.
set -eu
unset PYTHONPATH PYTHONHOME
folder={folder}
course=$HOME/JHS_notebooks/{name}

stop() { echo "Stopped: $1" >&2; exit 1; }

"$folder/env/bin/python" -c pass 2>/dev/null ||
    stop "$folder/env/bin/python does not run on $(hostname). Tell your teacher, who installs the course with a Python that is there, too (--python)."
command -v git >/dev/null || stop "git is not installed on $(hostname). Tell your teacher."
if [ -d "$course/.git" ]; then
    "$folder/env/bin/python" -m course_utils.update --clone "$course"
elif [ -e "$course" ]; then
    stop "$course is not the course: give it another name, then type this command again."
else
    mkdir -p "$HOME/JHS_notebooks" || stop "your home folder cannot be written, or is full (see: quota)."
    git clone --quiet "$folder/students.bundle" "$course"
fi
# Answers, and the copies that nbgrader keeps of what was handed in, are for nobody else to read.
copies=$("$folder/env/bin/jupyter" --data-dir)/nbgrader_cache
mkdir -p "$copies"
chmod 700 "$course" "$copies"
"$folder/env/bin/jupyter" kernelspec install --log-level=ERROR --user --replace --name {name} "$folder/jupyter/kernels/{kernel}"
echo "The course is in $course."
echo "In JupyterLab, open JHS_notebooks/{name}/notebooks/index.ipynb, with the kernel \"Feeding the GPU\"."
echo "In a terminal, these give you the course's Python and data, and make submit:"
echo "    export TEACHER_DIR=$folder"
echo "    . \$TEACHER_DIR/env/bin/activate"
echo "    cd $course"
