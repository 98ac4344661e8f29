"""Trainings that a framework runs are seen as those with a loop of their own."""

import importlib.util
import json

import pytest

from tests.diagnosis.test_command import COMMAND, start, written

pytestmark = pytest.mark.slow
DATA = """
import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.rand(64, 8), torch.rand(64, 1)
data = TensorDataset(x, y)
"""
SCRIPTS = {
    "lightning": """
import lightning

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, number):
        return mse_loss(self.layer(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", devices=1, **quiet)
trainer.fit(Model(), DataLoader(data, 8, shuffle=True))
""",
    "accelerate": """
from accelerate import Accelerator

accelerator, model = Accelerator(cpu=True), torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 8, shuffle=True))
for _ in range(2):
    for one, other in loader:
        accelerator.backward(mse_loss(model(one), other))
        optimizer.step()
        optimizer.zero_grad()
""",
    "transformers": """
from transformers import Trainer, TrainingArguments

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x, y):
        return {"loss": mse_loss(self.layer(x), y)}

arguments = TrainingArguments(
    output_dir=f"{__file__}.out", use_cpu=True, num_train_epochs=2, report_to=[], save_strategy="no"
)
rows = [{"x": one, "y": other} for one, other in zip(x, y)]
Trainer(model=Model(), args=arguments, train_dataset=rows).train()
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_training_of_a_framework_is_seen(tmp_path, name: str):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    report = tmp_path / "report.json"
    told = start((*COMMAND, "--json", str(report)), written(tmp_path, DATA + SCRIPTS[name]))
    assert told.returncode == 0, told.stderr
    assert "failed, the script continues" not in told.stderr
    found = json.loads(report.read_text())
    [loader] = found["loaders"]
    assert loader["training"]
    assert (found["run"]["steps"], loader["batches"], loader["epochs"]) == (16, 16, 2)
